"""An image that a reader of a page gives: of bounded size, and never a path."""

from pathlib import Path

from analysis.upload_bounds import UPLOAD_BYTES, UPLOAD_PIXELS
from precompute.corpora.images.image_files import image_file, read_source
from precompute.corpora.images.pictures import Picture, seen
from precompute.corpora.wording import file_name


def read_upload(data: bytes, *, name: str) -> Picture:
    """Read an uploaded image, checking its size before decoding; its name is the sent one.

    Raises:
        BadCorpus: it is larger than `UPLOAD_BYTES` or `UPLOAD_PIXELS`, or no image that is read.
    """
    name = file_name(Path(name)) or "image"
    read_source(data, name=name, limit=UPLOAD_BYTES)
    file = image_file(data, name=name)
    return Picture(file, *seen(file, pixels=UPLOAD_PIXELS))

import numpy as np
from PIL import Image

from analysis.errors import BadCorpus
from analysis.upload_bounds import UPLOAD_BYTES, UPLOAD_PIXELS
from precompute.corpora.images.images import read_upload
from precompute.corpora.images.pictures import MAX_PIXELS
from tests.precompute.corpora.drawn import encoded, noise, note
from tests.refusals import refused


def refusal(data: bytes, name: str = "a.png") -> str:
    return refused(BadCorpus, read_upload, data, name=name)


def test_an_upload_is_a_picture_without_a_mask():
    picture = read_upload(encoded(noise(8, 6), "JPEG", exif=note(6)), name="a.png")
    assert (picture.name, picture.width, picture.height, picture.turn) == ("a.png", 6, 8, 6)
    assert picture.mask is None
    assert isinstance(picture.file.source, bytes)


def test_bytes_are_counted_before_anything_is_looked_at():
    limit = UPLOAD_BYTES // 2**20
    assert refusal(bytes(UPLOAD_BYTES + 2**19)) == (
        f"a.png: has {limit}.5 MiB, more than the {limit} MiB that are read; make it smaller"
    )
    assert refusal(b"") == "a.png: is empty; copy it again"


def test_pixels_of_an_upload_have_a_bound_of_their_own():
    side = int(UPLOAD_PIXELS**0.5) + 1
    assert side**2 < MAX_PIXELS
    small_file = encoded(Image.fromarray(np.zeros((side, side), dtype=np.uint8)).convert("1"))
    assert refusal(small_file) == (
        f"a.png: has {side} × {side} pixels, more than the 25,000,000 that are read; make it "
        "smaller"
    )


def test_whatever_is_sent_as_a_name_is_shown_on_one_line_and_never_opened(tmp_path):
    (tmp_path / "secret.png").write_bytes(encoded(noise(8, 6)))
    assert refusal(b"A text.", name=str(tmp_path / "secret.png")).startswith("secret.png: is no")
    assert refusal(b"A text.", name="a\n\x1b[31m.png").startswith(r"'a\n\x1b[31m.png': is no image")
    assert refusal(b"A text.", name="") == "image: is no image; save it as PNG or JPEG"

"""The dashboard's server: its address, its probes, and the requests that it refuses."""

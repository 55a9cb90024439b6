"""What a server counts about itself, for Prometheus."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Counters of one application; each has its own, so that several can live in a process."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "phraseloom_requests", "answered", ["path", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "phraseloom_request_seconds", "until the answer", ["path"], registry=registry
        )
        self.batch_documents = Histogram(
            "phraseloom_batch_documents",
            "searched together",
            buckets=_SIZES,
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "phraseloom_batch_seconds", "searching a batch", registry=registry
        )
        self.in_progress = Gauge(
            "phraseloom_requests_in_progress", "not yet answered", registry=registry
        )
        self.queue = Gauge("phraseloom_queue_documents", "waiting", registry=registry)

    def saw_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests.labels(path, str(status)).inc()
        self.request_seconds.labels(path).observe(seconds)

    def saw_batch(self, documents: int, seconds: float) -> None:
        """Count documents that were searched together."""
        self.batch_documents.observe(documents)
        self.batch_seconds.observe(seconds)

    def render(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)

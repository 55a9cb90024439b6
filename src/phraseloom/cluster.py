"""Many machines: the dataset of `phraseloom.dataset`, read and extracted by Ray.

Readers are tasks that stream parts; actors with one model and one core each take a part at a time
and write it. Ray starts anew what is killed; parts that it does twice are the same.
"""

import hashlib
import logging
import os
import pickle
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Unpack

from phraseloom.dataset.columns import keyphrase_column, with_keyphrases
from phraseloom.dataset.manifest import Group, Scanned, scan_file
from phraseloom.dataset.parts import (
    DatasetJob,
    FinishedPart,
    by_length,
    extract_rows,
    finish_part,
    read_parts,
)
from phraseloom.dataset.run import Outcome, Progress, Request, claimed_run
from phraseloom.errors import OptionsError, PhraseloomError, import_extra
from phraseloom.extractor import Extractor
from phraseloom.io.arrow import first_line, import_arrow, to_rows
from phraseloom.io.atomic import written_aside
from phraseloom.io.files import has_rows
from phraseloom.io.records import READ_COLUMNS, Record, to_records
from phraseloom.keyphrase import Keyphrase
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import MANIFEST, PARTS, checksum, find_model
from phraseloom.options import OptionFields, Options, as_count, make_options
from phraseloom.text.document import Source

LOCAL = "local"
"""Address that starts Ray on this machine."""
_BATCH_ROWS = 256
_DEATHS = 3  # of actors at one text, two of them when it was alone, after which it is to blame

logger = logging.getLogger(__name__)


def extract_dataset(
    dataset: Any,
    options: Options | None = None,
    *,
    column: str | None = None,
    model: Path | str | None = None,
    workers: int | None = None,
    **changes: Unpack[OptionFields],
) -> Any:
    """A dataset of ``ray.data`` with a column more: the keyphrases of each row.

    Nothing is done before the new dataset is used. A cell of ``keyphrases`` is a list of structs:
    text, score, spans and title_spans; null if the row has no text, or none that can be read, or
    one at which actors die. The reason is in the log of its actor then.

    Args:
        dataset: with the text in the column named, or in text, abstract or body …; a title
            may be in ``title``.
        options: what is wanted of each text; see `Options`.
        column: of the text.
        model: name or directory of a model; a directory need not be on other machines.
        workers: actors, of one core each; without it, as many as the cluster has cores, also
            when it grows.
        **changes: fields of `Options`.
    """
    ray = _import_ray()
    if not isinstance(dataset, ray.data.Dataset):
        raise OptionsError(f"give a dataset of ray.data, not {type(dataset).__name__}")
    wanted = make_options(options, changes)
    lasting = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
    deaths = ray.remote(_Deaths).options(**lasting).remote()
    return dataset.map_batches(
        _BatchActor,
        fn_constructor_args=(_ModelCopy(model), wanted, column, deaths),
        batch_size=_BATCH_ROWS,
        batch_format="pyarrow",
        compute=_actors(ray, workers),
        num_cpus=1,
    )


def extract_files(
    request: Request,
    *,
    address: str = LOCAL,
    workers: int | None = None,
    on_progress: Progress = lambda done, total, aside: None,
) -> Outcome:
    """The same as `phraseloom.dataset.run.extract_files`, on the machines of a cluster.

    Args:
        request: its paths and its folder must be the same to all machines.
        address: of a cluster, as ``ray.init`` takes it.
        workers: actors, of one core each; without it, as many as the cluster has cores, also
            when it grows.
        on_progress: told what is done.
    """
    with (
        connected(address, workers) as ray,
        claimed_run(request, partial(_scan, ray)) as run,
    ):
        todo = run.todo
        groups = [group for group in run.groups if not group.parts.keys().isdisjoint(todo)]
        if groups:
            parts = _part_dataset(ray, run.job, groups, todo).map_batches(
                _PartActor,
                fn_constructor_args=(_ModelCopy(run.job.model), run.job),
                batch_size=1,
                batch_format="pyarrow",
                compute=_actors(ray, workers),
                num_cpus=1,
            )
            try:
                for row in parts.iter_rows():
                    run.note(FinishedPart(**row), on_progress)
            except ray.exceptions.RayError as error:
                raise _explained(error) from error
        return run.close()


def _import_ray() -> Any:
    import_extra("ray.data", "a cluster", "cluster")
    return import_extra("ray", "a cluster", "cluster")


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """Ray, connected to a cluster, or started on this machine and ended at the end.

    Raises:
        PhraseloomError: there is no cluster at the address.
    """
    ray = _import_ray()
    if ray.is_initialized():
        yield ray
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    # else Ray would have its workers import whatever lies in the current directory
    quiet["job_config"] = ray.job_config.JobConfig(_client_job=True)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would send them to its makers
    try:
        if address == LOCAL:
            ray.init(address, num_cpus=workers, **quiet)
        else:
            ray.init(address, **quiet)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        raise PhraseloomError(
            f"no Ray cluster answers at {address} ({first_line(error)}); start one with"
            " 'ray start --head', set RAY_AUTH_MODE=token if it wants one, or give no address"
        ) from None
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()


def _explained(error: BaseException) -> PhraseloomError:
    """What went wrong in a task: our own message, or Ray's last line."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PhraseloomError):
            return cause
        cause = getattr(cause, "cause", None) or cause.__cause__
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return PhraseloomError(f"the cluster gave up: {lines[-1]}; the same command goes on")


def _cores(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _actors(ray: Any, workers: int | None) -> Any:
    """A pool that begins with all cores there are, and lives on with less."""
    most = None if workers is None else as_count(workers, "workers")
    first = min(_cores(ray), most or _cores(ray))
    return ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=first)


def _scan(ray: Any, paths: Sequence[Path], column: str | None) -> Iterator[Scanned]:
    """Scan files, two for each core at a time: a task may start a process."""
    scan = ray.remote(num_cpus=1)(scan_file)
    to_come, room = iter(paths), 2 * _cores(ray)
    waiting: deque[Any] = deque()
    while True:
        for path in islice(to_come, room - len(waiting)):
            waiting.append(scan.remote(path, column) if has_rows(path) else path)
        if not waiting:
            return
        first = waiting.popleft()
        yield scan_file(first, column) if isinstance(first, Path) else ray.get(first)


def _part_dataset(ray: Any, job: DatasetJob, groups: Sequence[Group], todo: set[int]) -> Any:
    """A dataset with a part in each row, and a row in each block, which one actor takes.

    There are no more readers than cores. They take none: most of the time they wait for actors.
    """
    context = ray.data.DataContext.get_current().copy()
    context.target_max_block_size = 1
    context.enable_progress_bars = False
    with ray.data.DataContext.current(context):
        items = [{"group": pickle.dumps(group)} for group in groups]
        dataset = ray.data.from_items(items, override_num_blocks=len(items))
        wanted = ray.put(todo)
        return dataset.map_batches(
            partial(_read, job, wanted),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.TaskPoolStrategy(size=min(_cores(ray), len(items))),
            num_cpus=0,
        )


def _read(job: DatasetJob, wanted: Any, batch: Any) -> Iterator[Any]:
    """The parts of one group, each as a table of one row."""
    pa, ray = import_arrow(), _import_ray()
    for group in batch["group"].to_pylist():
        for part in read_parts(job, [pickle.loads(group)], ray.get(wanted)):
            yield pa.table({"part": [pickle.dumps(part)]})


class _ModelCopy:
    """A model directory that is put where it is missing, through Ray's store of objects."""

    def __init__(self, model: Path | str | None) -> None:
        self._directory = find_model(find_installed(model)).absolute()
        self._checksum = checksum(self._directory / MANIFEST)
        files = (self._directory / name for name in PARTS)
        content = {file.name: file.read_bytes() for file in files if file.is_file()}
        self._files = _import_ray().put(content)

    def load(self) -> Extractor:
        """The extractor; its weights are mapped into memory, once for all actors of a machine."""
        return Extractor.load(self._place())

    def _place(self) -> Path:
        manifest = self._directory / MANIFEST
        if manifest.is_file() and checksum(manifest) == self._checksum:
            return self._directory
        copy = Path(gettempdir(), f"phraseloom-{self._checksum[:32]}")
        if not copy.exists():
            with written_aside(copy) as new:
                new.mkdir()
                for name, content in _import_ray().get(self._files).items():
                    (new / name).write_bytes(content)
        return copy


class _PartActor:
    """Does parts, one at a time."""

    def __init__(self, model: _ModelCopy, job: DatasetJob) -> None:
        self._extractor, self._job = model.load(), job

    def __call__(self, batch: Any) -> Any:
        parts = map(pickle.loads, batch["part"].to_pylist())
        finished = [finish_part(self._extractor, self._job, part)._asdict() for part in parts]
        return import_arrow().Table.from_pylist(finished)


class _Deaths:
    """At which texts actors died; an actor itself, which outlives them.

    Ray starts an actor anew that was killed, and gives it the same work again, however often.
    """

    def __init__(self) -> None:
        self._at: dict[str, list[str]] = {}
        self._deaths: Counter[str] = Counter()

    def arrive(self, actor: str) -> None:
        """An actor begins. If it was at something already, it has died there."""
        self._deaths.update(self._at.pop(actor, []))

    def begin(self, actor: str, texts: list[str]) -> list[int]:
        """An actor begins with some texts; how often has one died at each?"""
        self._at[actor] = texts
        return [self._deaths[text] for text in texts]


class _BatchActor:
    """Adds keyphrases to batches of rows."""

    def __init__(
        self, model: _ModelCopy, options: Options, column: str | None, deaths: Any
    ) -> None:
        self._extractor, self._options, self._column = model.load(), options, column
        self._ray, self._deaths = _import_ray(), deaths
        self._me = str(self._ray.get_runtime_context().get_actor_id())
        self._ray.get(deaths.arrive.remote(self._me))

    def __call__(self, table: Any) -> Any:
        names = [name for name in table.column_names if name in {*READ_COLUMNS, self._column}]
        rows = enumerate(to_rows(table.select(names), "row"), start=1)
        sources: list[Source] = []
        places: list[int] = []
        for row, record in enumerate(to_records(Path("row"), rows, column=self._column)):
            if isinstance(record, Record):
                places.append(row)
                sources.append(record.source)
            else:
                logger.warning("no keyphrases: %s", record)
        lists: list[list[Keyphrase] | None] = [None] * len(table)
        for place, phrases in zip(places, self._extract(sources), strict=True):
            if isinstance(phrases, str):
                logger.warning("no keyphrases: %s", phrases)
            else:
                lists[place] = phrases
        return with_keyphrases(table, keyphrase_column(lists))

    def _extract(self, sources: Sequence[Source]) -> list[list[Keyphrase] | str]:
        """Of each text, or why not; one by one if an actor died at any of them."""
        died = self._begin(sources)
        found: list[list[Keyphrase] | str] = [[] for _ in sources]
        batches = [[row] for row in range(len(sources))] if any(died) else by_length(sources)
        for batch in batches:
            texts = [sources[row] for row in batch]
            if any(died) and self._begin(texts)[0] >= _DEATHS:
                found[batch[0]] = f"{_DEATHS} actors died at {texts[0].text[:60]!r}"
                continue
            lists = extract_rows(self._extractor, self._options, texts)
            for row, phrases in zip(batch, lists, strict=True):
                found[row] = phrases
        self._begin([])
        return found

    def _begin(self, sources: Sequence[Source]) -> list[int]:
        """Say what is begun, and hear how often an actor died at it."""
        texts = [hashlib.sha256(repr(tuple(source)).encode()).hexdigest() for source in sources]
        return self._ray.get(self._deaths.begin.remote(self._me, texts))

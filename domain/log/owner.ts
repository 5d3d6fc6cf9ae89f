/** The members of a header that say what it belongs to. */
interface Owned {
  readonly stream: string
  readonly runId?: string | undefined
  readonly agentId?: string | undefined
}

/** The kind of a stream: its name up to the first hyphen (`agent`, `document`, `external`, `key`, `log` …). */
export const kindOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** The id of a stream within its kind: its name after the first hyphen. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1)

/** Every kind of stream beside `log-meta` that keepup writes. */
export const KINDS: readonly string[] = ['agent', 'document', 'external', 'key', 'memory', 'context', 'gateway']

/** Kinds of streams that belong to a run. Every other stream owns itself. */
export const KINDS_OF_RUNS: readonly string[] = ['agent', 'external']

/**
 * The owner of an event's bytes: the run for streams of agents and external agents, else the stream itself. Blobs are
 * addressed by it, and an erasure ends there.
 */
export function ownerOf({ stream, runId }: Owned): string {
  return runId !== undefined && KINDS_OF_RUNS.includes(kindOf(stream)) ? runId : stream
}

/** The run of an event, or the stream where no run caused it, for views that name a run for every event. */
export const runOf = ({ stream, runId }: Owned): string => runId ?? stream

/** The agent of an event, or the id of its stream where it has none. */
export const agentOf = ({ stream, agentId }: Owned): string => agentId ?? idOf(stream)

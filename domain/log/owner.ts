/** The members of a header that determine its owner. */
interface Owned {
  readonly stream: string
  readonly runId?: string | undefined
  readonly agentId?: string | undefined
}

/** The kind of a stream: its name up to the first hyphen (`agent`, `document`, `external`, `key`, `log` …). */
export const kindOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** The id of a stream within its kind: its name after the first hyphen. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1)

/** Kinds of streams that belong to a run. Any other stream is its own owner. */
export const KINDS_OF_RUNS: readonly string[] = ['agent', 'external']

/** Kinds of streams about a run, with the id of the run. Each hold on the run applies to them. */
export const KINDS_ABOUT_RUNS: readonly string[] = ['annotation']

/**
 * The owner of an event's bytes: the run for streams of agents and external agents, otherwise the stream itself. Blobs
 * are addressed by owner, and an erasure is limited to one owner.
 */
export function ownerOf({ stream, runId }: Owned): string {
  return runId !== undefined && KINDS_OF_RUNS.includes(kindOf(stream)) ? runId : stream
}

/** The run of an event, or its stream when it has no run, for views that need a run for every event. */
export const runOf = ({ stream, runId }: Owned): string => runId ?? stream

/** The agent of an event, or the id of its stream when it has no agent. */
export const agentOf = ({ stream, agentId }: Owned): string => agentId ?? idOf(stream)

import type { z } from 'zod'
import type { TraceTarget } from '../../../domain/calls/trace.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { blameFile } from '../files/blame-file.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import type { TraceQuery } from './schemas.ts'

/** What wrote a line. `text`: a sentence; `quote`: the line. */
export interface LineSource {
  readonly target: TraceTarget
  readonly text: string
  readonly quote: string
  /** Other calls since the version before, which may have written it too. */
  readonly others: readonly string[]
}

const WHY_NOT = {
  none: 'there is no such file at this step; GET /v1/runs/{id}/diff?only=files lists changed files',
  binary: 'it is no text, so it has no lines',
  too_large: 'it is too large to tell who wrote its lines',
} as const

/** The call that wrote a line. Rejects with 404, and as {@link blameFile} does. */
export async function lineSource(s: Services, query: z.output<typeof TraceQuery>): Promise<LineSource> {
  const [path, line, run] = [query.file!, query.line!, query.run!]
  const agent = query.agent ?? run
  const step = query.step ?? (await s.runtime.stateAt(agent, null)).state.step
  const { content, parts, sources, since } = await blameFile(s, run, { path, step, agent })
  if (content !== 'text') throw notFound('line', `${path}:${line}`, WHY_NOT[content])
  let last = 0
  for (const { text, source } of parts) {
    const lines = text.split('\n')
    if (text.endsWith('\n')) lines.pop()
    const quote = lines[line - last - 1]
    last += lines.length
    if (quote === undefined) continue
    const written = source === null ? null : sources[source]!
    const call = written?.calls.at(-1)
    const about = `line ${line} of ${path} at step ${step}`
    if (call !== undefined) {
      const others = written!.calls.slice(0, -1).map(({ toolCallId }) => toolCallId)
      return {
        target: { toolCallId: call.toolCallId },
        text: `${about}, written at step ${written!.step}`,
        quote,
        others,
      }
    }
    const when =
      written === null
        ? `older than step ${since}, before which no version was looked at`
        : written.step === 0
          ? 'as it was before the run'
          : `changed by no call of the run, before step ${written.step}`
    return { target: { stream: agentStream(agent), revision: 0 }, text: `${about}, ${when}`, quote, others: [] }
  }
  throw notFound('line', `${path}:${line}`, `the file has ${last} lines at step ${step}`)
}

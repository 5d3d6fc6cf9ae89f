import type { z } from 'zod'
import { delegateToAgent } from '../../../domain/agent/control/delegate-to-agent.ts'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { filesOf, type TraceTarget } from '../../../domain/calls/trace.ts'
import { agentStream, childAgentId } from '../../../domain/log/ids.ts'
import { blameFile } from '../files/blame-file.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import type { TraceQuery } from './schemas.ts'

/** What wrote a line. `text`: a sentence; `quote`: the line. */
export interface LineSource {
  readonly target: TraceTarget
  readonly text: string
  readonly quote: string
  /** Other calls that may have written it. */
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
    const about = `line ${line} of ${path} at step ${step}`
    const calls =
      written === null || written.calls.length > 0 || written.step === 0
        ? (written?.calls ?? []).map(({ toolCallId }) => toolCallId)
        : await writersBelow(s, agent, path, { toStep: written.step, own: false })
    const toolCallId = calls.at(-1)
    if (toolCallId !== undefined)
      return {
        target: { toolCallId },
        text: `${about}, written at step ${written!.step}`,
        quote,
        others: calls.slice(0, -1),
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

/**
 * The calls of the agents below an agent that say that they have written a file, in order. `toStep`: only agents whose
 * delegation had ended at this step. `own`: the agent's own calls too.
 */
async function writersBelow(
  s: Pick<Services, 'log' | 'blobs'>,
  agentId: string,
  path: string,
  { toStep = Number.POSITIVE_INFINITY, own = true }: { readonly toStep?: number; readonly own?: boolean } = {},
): Promise<readonly string[]> {
  const found: string[] = []
  // An external agent does not say which files it has written.
  if ((await s.log.head(agentStream(agentId))) === null) return found
  for await (const page of history(s, agentId, { types: ['tool_call_end'] }))
    for (const { event } of page) {
      if (event.type !== 'tool_call_end' || event.toolCallId === undefined || event.body.step > toStep) continue
      if (event.body.toolName === delegateToAgent.spec.name)
        found.push(...(await writersBelow(s, childAgentId(event.toolCallId), path)))
      else if (own && filesOf(event.body).includes(path)) found.push(event.toolCallId)
    }
  return found
}

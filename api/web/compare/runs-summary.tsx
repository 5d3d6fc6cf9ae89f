import { take } from '../../http/answers.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { api, errorText } from '../client/api.ts'
import { short } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { StatusMark } from '../runs/status-mark.tsx'
import { type Changed, type Side, summaryRows } from './summary-rows.ts'

/** The files that differ between two points such as `agent:3`. Null: one of them has no version of its files. */
async function filesBetween(id: string, a: string, b: string): Promise<Changed> {
  const query = { a, b, only: 'files' as const }
  const { files } = await take(api.v1.runs[':id'].diff.$get({ param: { id }, query }))
  return files?.changes ?? null
}

async function sideOf(id: string): Promise<Side> {
  const { run } = await take(api.v1.runs[':id'].$get({ param: { id } }))
  if (run.workspace === null || run.ungoverned) return { run, files: null }
  const files = await filesBetween(id, `${run.agentId}:0`, `${run.agentId}:${run.step}`).catch((error: unknown) => ({
    fault: errorText(error),
  }))
  return { run, files }
}

async function summaryOf(a: string, b: string) {
  const sides = await Promise.all([sideOf(a), sideOf(b)])
  const [first, second] = sides.map(({ run }) => `${run.agentId}:${run.step}`) as [string, string]
  const isComparable = sides.every(({ files }) => files !== null && !('fault' in files))
  // Without this answer the row of files is unknown.
  const between = isComparable ? await filesBetween(a, first, second).catch(() => null) : null
  return { sides, rows: summaryRows(sides[0], sides[1], between) }
}

/** Two runs side by side: task, model, cost, time, turns, result and files. Rows that differ or cannot be compared are marked. */
export function RunsSummary({ a, b }: { a: string; b: string }) {
  const found = useLoaded(`${a} ${b}`, () => summaryOf(a, b))
  // The comparison below shows the same fault.
  if (found !== null && 'fault' in found) return null
  return (
    <Loaded of={found}>
      {({ sides, rows }) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <section class="summary" tabIndex={0} aria-label="Both runs">
          <table>
            <thead>
              <tr>
                <td />
                {sides.map(({ run }) => (
                  <th key={run.runId} scope="col">
                    <a class="mono" href={`/runs/${run.runId}`}>
                      {short(run.runId)}
                    </a>{' '}
                    <StatusMark run={run} /> <ForkOf run={run} sides={sides} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ title, texts, isFigure, likeness }) => (
                <tr key={title} class={likeness}>
                  <th scope="row">
                    {title}
                    {likeness === 'unknown' && <span class="quiet"> (not comparable)</span>}
                  </th>
                  {texts.map((text, n) => (
                    <td key={n}>{isFigure ? text : <Foreign text={text} />}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Loaded>
  )
}

/** Marks a fork, and whether it is one of the other run. */
function ForkOf({ run: { agentId, source }, sides }: { run: Run; sides: readonly Side[] }) {
  if (source === null)
    return sides.some(({ run }) => run.source?.agentId === agentId) ? <span class="badge">source</span> : null
  const isOfOther = sides.some(({ run }) => run.agentId === source.agentId)
  return (
    <span class="badge">
      fork of {isOfOther ? 'the other run' : shown(short(source.agentId))} at step {source.step}
    </span>
  )
}

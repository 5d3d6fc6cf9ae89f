import type { ComponentChildren } from 'preact'
import { dollars } from '../../cli/output/units.ts'
import { take } from '../../http/answers.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { api } from '../client/api.ts'
import { short, span } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { StatusMark } from '../runs/status-mark.tsx'

/** The most files of a run that the summary lists. */
const MOST_FILES = 12
const SIGNS = { added: '+', modified: '±', deleted: '-' } as const

interface Side {
  readonly run: Run
  /** The files that the run changed, such as `+ notes.md`. Null: no version of its files is kept. */
  readonly files: readonly string[] | null
}

async function sideOf(id: string): Promise<Side> {
  const param = { id }
  const { run } = await take(api.v1.runs[':id'].$get({ param }))
  if (run.workspace === null || run.ungoverned) return { run, files: null }
  const query = { a: `${run.agentId}:0`, b: `${run.agentId}:${run.step}`, only: 'files' as const }
  const { files } = await take(api.v1.runs[':id'].diff.$get({ param, query })).catch(() => ({ files: null }))
  return { run, files: files?.changes.map(({ path, change }) => `${SIGNS[change]} ${path}`) ?? null }
}

const ROWS: readonly (readonly [title: string, text: (side: Side) => string])[] = [
  ['Task', ({ run }) => run.task ?? '–'],
  ['Role', ({ run }) => run.role ?? run.backend ?? 'none'],
  ['Model', ({ run }) => run.model ?? '–'],
  ['Cost', ({ run }) => dollars(run.total.nanoDollars)],
  ['Time', ({ run }) => span(Date.parse(run.updatedAt) - Date.parse(run.createdAt))],
  ['Turns, calls', ({ run }) => `${run.turn}, ${run.total.toolCalls}`],
  ['Result', ({ run }) => run.error?.message || (run.summary ?? run.partialOutput ?? '–')],
  ['Files', ({ files }) => filesText(files)],
]

function filesText(files: Side['files']): string {
  if (files === null) return '–'
  if (files.length === 0) return 'none changed'
  const more = files.length - MOST_FILES
  return [...files.slice(0, MOST_FILES), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

/** Two runs side by side: task, model, cost, time, turns, result and files. Rows that differ are marked. */
export function RunsSummary({ a, b }: { a: string; b: string }) {
  const found = useLoaded(`${a} ${b}`, () => Promise.all([sideOf(a), sideOf(b)]))
  // The comparison below shows the same fault.
  if (found !== null && 'fault' in found) return null
  return (
    <Loaded of={found}>
      {(sides) => (
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
              {ROWS.map(([title, text]) => {
                const [first, second] = [text(sides[0]), text(sides[1])]
                return (
                  <tr key={title} class={first === second ? 'same' : 'differs'}>
                    <th scope="row">{title}</th>
                    <Cell>{first}</Cell>
                    <Cell>{second}</Cell>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </section>
      )}
    </Loaded>
  )
}

const Cell = ({ children }: { children: ComponentChildren }) => (
  <td>
    <Foreign text={String(children)} />
  </td>
)

/** Marks a fork, and whether it is one of the other run. */
function ForkOf({ run: { source }, sides }: { run: Run; sides: readonly Side[] }) {
  if (source === null) return null
  const isOfOther = sides.some(({ run }) => run.agentId === source.agentId)
  return (
    <span class="badge">
      fork of {isOfOther ? 'the other run' : shown(short(source.agentId))} at step {source.step}
    </span>
  )
}

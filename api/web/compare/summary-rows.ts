import type { Run } from '../../operations/runs/schemas.ts'
import { money, number, span } from '../parts/format.ts'

/** The most files of a run that the summary lists. */
const MOST_FILES = 12
const SIGNS = { added: '+', modified: '±', deleted: '-' } as const

/** The files that a run changed. Null: no version of its files is kept. */
export type Changed = readonly { readonly path: string; readonly change: keyof typeof SIGNS }[] | null

export interface Side {
  readonly run: Run
  readonly files: Changed | { readonly fault: string }
}

export interface Row {
  readonly title: string
  readonly texts: readonly [string, string]
  /** The texts are figures that the page has formatted, not texts of a person, a model or a tool. */
  readonly isFigure: boolean
  readonly likeness: 'same' | 'differs' | 'unknown'
}

/**
 * The rows of a summary of two runs. `between`: the files that differ between the ends of the runs; null: not known.
 * A row is `unknown` if a value of it is.
 */
export function summaryRows(a: Side, b: Side, between: Changed): readonly Row[] {
  const likeness = (value: (run: Run) => unknown) =>
    JSON.stringify(value(a.run)) === JSON.stringify(value(b.run)) ? 'same' : 'differs'
  const row = (title: string, value: (run: Run) => unknown): Row => {
    const text = (run: Run) => String(value(run) ?? '–')
    return { title, texts: [text(a.run), text(b.run)], isFigure: false, likeness: likeness(value) }
  }
  const figure = (title: string, value: (run: Run) => unknown, text: (run: Run) => string): Row => ({
    title,
    texts: [text(a.run), text(b.run)],
    isFigure: true,
    likeness: likeness(value),
  })
  const cost = figure(
    'Cost',
    ({ total }) => total.nanoDollars,
    ({ total }) => money(total.nanoDollars),
  )
  const isPriced = [a, b].every(({ run }) => run.total.nanoDollars !== null)
  const timeOf = ({ updatedAt, createdAt }: Run) => Date.parse(updatedAt) - Date.parse(createdAt)
  return [
    row('Task', ({ task }) => task),
    row('Role', ({ role, backend }) => role ?? backend ?? 'none'),
    row('Model', ({ model }) => model),
    isPriced ? cost : { ...cost, likeness: 'unknown' },
    figure('Time', timeOf, (run) => span(timeOf(run))),
    figure(
      'Turns, calls',
      ({ turn, total }) => [turn, total.toolCalls],
      ({ turn, total }) => `${number(turn)}, ${number(total.toolCalls)}`,
    ),
    row('Result', ({ error, summary, partialOutput }) => error?.message || (summary ?? partialOutput)),
    {
      title: 'Files',
      texts: [filesText(a.files), filesText(b.files)],
      isFigure: false,
      likeness: filesLikeness(a, b, between),
    },
  ]
}

function filesLikeness({ files: a }: Side, { files: b }: Side, between: Changed): Row['likeness'] {
  if (a === null || b === null || 'fault' in a || 'fault' in b) return 'unknown'
  if (linesOf(a).join('\n') !== linesOf(b).join('\n')) return 'differs'
  // The same paths can have different contents.
  if (between === null) return a.length === 0 ? 'same' : 'unknown'
  const changed = new Set(a.map(({ path }) => path))
  return between.some(({ path }) => changed.has(path)) ? 'differs' : 'same'
}

const linesOf = (files: NonNullable<Changed>): readonly string[] =>
  files.map(({ path, change }) => `${SIGNS[change]} ${path}`)

function filesText(files: Side['files']): string {
  if (files === null) return 'not known: no version is kept'
  if ('fault' in files) return `not known: ${files.fault}`
  if (files.length === 0) return 'none changed'
  const more = files.length - MOST_FILES
  return [...linesOf(files.slice(0, MOST_FILES)), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

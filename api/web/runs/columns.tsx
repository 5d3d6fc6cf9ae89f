import type { ComponentChildren } from 'preact'
import type { Run } from '../../operations/runs/schemas.ts'
import { query, setQuery } from '../page/router.ts'
import { Moment, WhenAgo } from '../parts/ago.tsx'
import { countText, money, number, short, span } from '../parts/format.ts'
import { Menu } from '../parts/menu.tsx'
import { shown } from '../parts/shown.ts'
import { stored } from '../parts/stored.ts'

export interface Column {
  readonly name: string
  readonly title: string
  /** As in `grid-template-columns`. */
  readonly width: string
  readonly number?: boolean
  readonly show: (run: Run) => ComponentChildren
}

const count = (n: number | null) => (n === null ? '–' : number(n))

/** The optional columns of the run list. Status and task are always shown. */
export const COLUMNS: readonly Column[] = [
  {
    name: 'role',
    title: 'Role, model',
    width: '12em',
    show: ({ role, backend, model }) => {
      const [first, second] = [role, backend, model].filter((one) => one !== null)
      return (
        <>
          <span>
            <bdi>{shown(first ?? '–')}</bdi>
          </span>
          <span class="quiet">
            <bdi>{shown(second ?? '')}</bdi>
          </span>
        </>
      )
    },
  },
  {
    name: 'cost',
    title: 'Cost, turns',
    width: '7em',
    number: true,
    show: ({ total, turn, ungoverned }) => (
      <>
        <span>{money(total.nanoDollars)}</span>
        <span class="quiet">{ungoverned ? '' : countText(turn, 'turn')}</span>
      </>
    ),
  },
  {
    name: 'tokens',
    title: 'Tokens',
    width: '7em',
    number: true,
    show: ({ total }) => (
      <>
        <span title="read">{count(total.inputTokens)}</span>
        <span class="quiet" title="written">
          {count(total.outputTokens)}
        </span>
      </>
    ),
  },
  {
    name: 'calls',
    title: 'Calls',
    width: '4.5em',
    number: true,
    show: ({ total }) => <span>{count(total.toolCalls)}</span>,
  },
  {
    name: 'time',
    title: 'Time',
    width: '7em',
    number: true,
    show: ({ createdAt, updatedAt }) => (
      <span title="from the start to the last event">{span(Date.parse(updatedAt) - Date.parse(createdAt))}</span>
    ),
  },
  {
    name: 'started',
    title: 'Started',
    width: '9em',
    show: ({ createdAt }) => (
      <span>
        <Moment at={createdAt} />
      </span>
    ),
  },
  {
    name: 'workspace',
    title: 'Folder',
    width: '12em',
    show: ({ workspace }) => (
      <span class="mono">
        <bdi>{shown(workspace ?? '–')}</bdi>
      </span>
    ),
  },
  {
    name: 'changed',
    title: 'Changed, id',
    width: '8.5em',
    number: true,
    show: ({ updatedAt, runId }) => (
      <>
        <WhenAgo at={updatedAt} />
        <span class="quiet mono">{short(runId)}</span>
      </>
    ),
  },
]

const DEFAULT = ['role', 'cost', 'changed']

/** Keeps the known names, in the order of {@link COLUMNS}. */
const known = (names: readonly unknown[]): readonly string[] =>
  COLUMNS.flatMap(({ name }) => (names.includes(name) ? [name] : []))

const kept = stored('keepup-columns', (found) => known(Array.isArray(found) ? found : DEFAULT))

/** The names of the shown columns: those of the URL, as a saved view sets them, else the person's last choice. */
export const chosenColumns = (): readonly string[] => {
  const asked = query.value.get('columns')
  return asked === null ? kept.value : known(asked.split(','))
}

/** The width of each part of a row, for `grid-template-columns`. */
export const widths = (columns: readonly Column[]): string =>
  ['8.5em', 'minmax(0, 1fr)', ...columns.map(({ width }) => width)].join(' ')

export function ColumnsMenu() {
  const names = chosenColumns()
  const toggle = (name: string) => {
    kept.value = known(names.includes(name) ? names.filter((one) => one !== name) : [...names, name])
    setQuery({ columns: null })
  }
  return (
    <Menu label="Columns" end>
      {COLUMNS.map(({ name, title }) => (
        <label key={name}>
          <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} /> {title}
        </label>
      ))}
    </Menu>
  )
}

import { useState } from 'preact/hooks'
import { setQuery } from '../page/router.ts'
import { Menu } from '../parts/menu.tsx'
import { FILTERS, type Filter, type Filters } from './filters.ts'

interface Choice {
  readonly name: Filter
  readonly label: string
  readonly options: readonly (readonly [value: string, label: string])[]
}

const CHOICES: readonly Choice[] = [
  {
    name: 'status',
    label: 'Status',
    options: [
      ['active', 'active'],
      ['recovering', 'recovering'],
      ['completed', 'done'],
      ['failed', 'failed'],
    ],
  },
  {
    name: 'waiting',
    label: 'Waits for',
    options: [
      ['people', 'a person'],
      ['approval', 'an approval'],
      ['doubt', 'a decision'],
      ['input', 'an answer'],
      ['pause', 'its pause to end'],
      ['model', 'its model'],
    ],
  },
]

const STARTED: Choice = {
  name: 'since',
  label: 'Started',
  options: [
    ['1h', 'in the last hour'],
    ['1d', 'in the last day'],
    ['1w', 'in the last week'],
    ['30d', 'in the last 30 days'],
  ],
}

const TEXTS: readonly (readonly [Filter, string, string])[] = [
  ['role', 'Role', 'coder'],
  ['model', 'Model', 'a model’s id'],
  ['over', 'Over $', '0.50'],
  ['error', 'Ended with', 'MODEL_FAILED'],
  ['person', 'Person', 'ada'],
  ['file', 'File', 'src/index.ts'],
  ['tag', 'Tag', 'release'],
]

/** The filters of the run list. The URL contains all of them. */
export function FilterBar({ filters }: { filters: Filters }) {
  const search = useTyped('text', filters.text ?? '')
  const further = [STARTED.name, ...TEXTS.map(([name]) => name)].filter((name) => filters[name] !== undefined).length
  const clear = () => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))
  return (
    <search class="filters">
      <input
        type="search"
        dir="auto"
        aria-label="Text in task, input, answer, arguments, output or notes"
        placeholder="text in a run  ( / )"
        {...search}
      />
      {CHOICES.map((choice) => (
        <ChoiceFilter key={choice.name} choice={choice} filters={filters} />
      ))}
      <Menu label={further === 0 ? 'More filters' : `More filters (${further})`}>
        <ChoiceFilter choice={STARTED} filters={filters} />
        {TEXTS.map(([name, label, example]) => (
          <TextFilter key={name} name={name} label={label} value={filters[name] ?? ''} placeholder={example} />
        ))}
      </Menu>
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </search>
  )
}

function ChoiceFilter({ choice: { name, label, options }, filters }: { choice: Choice; filters: Filters }) {
  const value = filters[name]
  return (
    <label>
      {label}
      <select value={value ?? ''} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">any</option>
        {value !== undefined && !options.some(([known]) => known === value) && <option value={value}>{value}</option>}
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The attributes of a field that keeps what a person types until Enter or a click elsewhere, also while the list changes. */
function useTyped(name: Filter, value: string) {
  const [typed, setTyped] = useState<string | null>(null)
  return {
    value: typed ?? value,
    onInput: (event: Event) => setTyped((event.target as HTMLInputElement).value),
    onChange: (event: Event) => {
      setQuery({ [name]: (event.target as HTMLInputElement).value.trim() })
      setTyped(null)
    },
    onBlur: () => setTyped(null),
  }
}

interface TextFilterProps {
  readonly name: Filter
  readonly label: string
  /** The value in the URL. */
  readonly value: string
  readonly placeholder: string
}

function TextFilter({ name, label, value, placeholder }: TextFilterProps) {
  const typed = useTyped(name, value)
  return (
    <label>
      {label}
      <input class="narrow" placeholder={placeholder} {...typed} />
    </label>
  )
}

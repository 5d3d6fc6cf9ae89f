import { useState } from 'preact/hooks'
import { setQuery } from '../page/router.ts'
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
      ['completed', 'completed'],
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
  {
    name: 'since',
    label: 'Started',
    options: [
      ['1h', 'in the last hour'],
      ['1d', 'in the last day'],
      ['1w', 'in the last week'],
      ['30d', 'in the last 30 days'],
    ],
  },
]

const TEXTS: readonly (readonly [Filter, string, string])[] = [
  ['role', 'Role', 'coder'],
  ['model', 'Model', 'a model’s id'],
  ['over', 'Over $', '0.50'],
]

/** The filters of the run list. The URL contains all of them. */
export function FilterBar({ filters }: { filters: Filters }) {
  const set = (name: Filter) => (event: Event) => setQuery({ [name]: (event.target as HTMLInputElement).value.trim() })
  const search = useTyped('text', filters.text ?? '')
  const clear = () => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Text in task, input, answer or result"
        placeholder="text in a run  ( / )"
        {...search}
      />
      {CHOICES.map(({ name, label, options }) => (
        <label key={name}>
          {label}
          <select value={filters[name] ?? ''} onChange={set(name)}>
            <option value="">any</option>
            {filters[name] !== undefined && !options.some(([value]) => value === filters[name]) && (
              <option value={filters[name]}>{filters[name]}</option>
            )}
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
      {TEXTS.map(([name, label, example]) => (
        <TextFilter key={name} name={name} label={label} value={filters[name] ?? ''} placeholder={example} />
      ))}
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </search>
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

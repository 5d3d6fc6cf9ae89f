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
  const clear = () => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Text in task, input, answer or result"
        placeholder="text in a run  ( / )"
        value={filters.text ?? ''}
        onChange={set('text')}
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
        <label key={name}>
          {label}
          <input class="narrow" value={filters[name] ?? ''} placeholder={example} onChange={set(name)} />
        </label>
      ))}
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </search>
  )
}

import { useState } from 'preact/hooks'
import { number } from '../format.ts'
import { isSmall } from '../is-small.ts'
import { shown } from '../shown.ts'
import { Foreign } from '../text.tsx'

/** The most members shown at first. */
const MOST = 100
/** A value with at most this many members expands its small members by default. */
const FEW = 12
const TEXT = 2_000

function Leaf({ value, text }: { value: unknown; text: number }) {
  if (typeof value !== 'string')
    return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>
  return (
    <span class="json-string">
      <Foreign text={value} most={text} />
    </span>
  )
}

interface JsonViewProps {
  readonly value: unknown
  readonly name?: string
  readonly open?: boolean
  /** The most characters of a text (UTF-16 code units). */
  readonly text?: number
}

/** A JSON value as an expandable tree. */
export function JsonView({ value, name, open = true, text = TEXT }: JsonViewProps) {
  const [isOpen, setOpen] = useState(open)
  const [most, setMost] = useState(MOST)
  const label = name !== undefined && (
    <span class="json-key">
      <bdi>{shown(name)}</bdi>:{' '}
    </span>
  )
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-line">
        {label}
        <Leaf value={value} text={text} />
      </div>
    )
  const entries = Object.entries(value)
  const about = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0)
    return (
      <div class="json-line">
        {label}
        <span class="quiet">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    )
  return (
    <div class="json-line">
      <button type="button" class="json-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {label}
        <span class="quiet">{about}</span>
      </button>
      {isOpen && (
        <div class="json-members">
          {entries.slice(0, most).map(([key, member]) => (
            <JsonView key={key} name={key} value={member} open={entries.length < FEW && isSmall(member)} text={text} />
          ))}
          {entries.length > most && (
            <button type="button" class="link" onClick={() => setMost(most + 10 * MOST)}>
              {number(entries.length - most)} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

import { useState } from 'preact/hooks'
import { Foreign, shown } from './text.tsx'

/** Members that are shown at once. */
const MOST = 100

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== 'string')
    return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>
  return (
    <span class="json-string">
      <Foreign text={value} most={2_000} />
    </span>
  )
}

/** A JSON value as a tree of which a person opens what is wanted. */
export function JsonView({ value, name, open = true }: { value: unknown; name?: string; open?: boolean }) {
  const [isOpen, setOpen] = useState(open)
  const [most, setMost] = useState(MOST)
  const label = name !== undefined && <span class="json-key">{shown(name)}: </span>
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-line">
        {label}
        <Leaf value={value} />
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
            <JsonView key={key} name={key} value={member} open={entries.length < 12} />
          ))}
          {entries.length > most && (
            <button type="button" class="link" onClick={() => setMost(most + 10 * MOST)}>
              {entries.length - most} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

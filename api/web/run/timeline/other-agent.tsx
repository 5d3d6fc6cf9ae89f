import { JsonView } from '../../parts/json-view.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'

/** One batch of an external agent's events. Text output is rendered as Markdown, everything else as JSON. */
export function OtherAgentEvents({ events }: { events: readonly unknown[] }) {
  return (
    <>
      {events.map((event, i) => {
        const { kind, text, ...rest } = event as { kind?: string; text?: string }
        return kind === 'TextOutput' && typeof text === 'string' ? (
          <Markdown key={i} text={text} />
        ) : (
          <JsonView
            key={i}
            name={shown(kind ?? 'event')}
            value={text === undefined ? rest : { text, ...rest }}
            open={false}
          />
        )
      })}
    </>
  )
}

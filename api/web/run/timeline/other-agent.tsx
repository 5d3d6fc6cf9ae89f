import { JsonView } from '../../parts/code/json-view.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { type Arguments, objectMembers, textOrEmpty } from '../calls/call-text.ts'
import { joinedTexts } from './joined-texts.ts'
import { ReportedCall, type ReportedData } from './reported-call.tsx'

/** The most characters of a message. The detail pane shows all of it. */
const MESSAGE = 2_000

/** An event of an external agent. `whole`: reads its data, if it is cut here. */
export interface ReportedEvent {
  readonly event: unknown
  readonly whole?: ReportedData['whole']
}

type Told = Arguments & { readonly whole: ReportedData['whole'] }

const idOf = ({ data }: Told): string => textOrEmpty(objectMembers(data).id)
const ofCall = ({ data, whole }: Told): ReportedData => ({ data, ...(whole && { whole }) })

/** Consecutive events of an external agent: joined text as Markdown, a call with its result on one line, the rest as JSON. */
export function OtherAgentEvents({ events }: { events: readonly ReportedEvent[] }) {
  const all = joinedTexts(events.map(({ event, whole }): Told => ({ ...objectMembers(event), whole })))
  // A call without an id matches no result.
  const called = new Set(all.filter((event) => event.kind === 'ToolCall' && idOf(event) !== '').map(idOf))
  return (
    <>
      {all.map((event, i) => {
        const { kind, text, message, data } = event
        if (kind === 'TextOutput' && typeof text === 'string') return <Markdown key={i} text={text} />
        if (kind === 'ToolCall') {
          const isOwn = (other: Told) => other.kind === 'ToolResult' && idOf(other) === idOf(event)
          const result = called.has(idOf(event)) ? all.find(isOwn) : undefined
          return <ReportedCall key={i} call={ofCall(event)} result={result && ofCall(result)} />
        }
        if (kind === 'ToolResult')
          return called.has(idOf(event)) ? null : <ReportedCall key={i} call={null} result={ofCall(event)} />
        if ((kind === 'Status' || kind === 'Error') && data === undefined && text === undefined)
          return (
            <p key={i} class={kind === 'Error' ? 'bad' : 'quiet'}>
              <Foreign text={textOrEmpty(message)} most={MESSAGE} />
            </p>
          )
        const { kind: _, whole: __, ...rest } = event
        return <JsonView key={i} name={shown(textOrEmpty(kind) || 'event')} value={rest} open={false} />
      })}
    </>
  )
}

import { plain } from '../../../cli/output/event-words.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { objectMembers, textOrEmpty } from '../calls/call-text.ts'
import { joinedTexts } from './joined-texts.ts'

/** The most characters of a result. The detail pane shows all of it. */
const RESULT = 2_000

/** Consecutive events of an external agent: joined text as Markdown, a call with its result on one line, the rest as JSON. */
export function OtherAgentEvents({ events }: { events: readonly unknown[] }) {
  const all = joinedTexts(events.map(objectMembers))
  const idOf = (event: (typeof all)[number]) => textOrEmpty(objectMembers(event.data).id)
  // A call without an id matches no result.
  const called = new Set(all.filter((event) => event.kind === 'ToolCall' && idOf(event) !== '').map(idOf))
  return (
    <>
      {all.map((event, i) => {
        const { kind, text, message, data } = event
        if (kind === 'TextOutput' && typeof text === 'string') return <Markdown key={i} text={text} />
        if (kind === 'ToolCall') {
          const isOwn = (other: typeof event) => other.kind === 'ToolResult' && idOf(other) === idOf(event)
          const result = called.has(idOf(event)) ? all.find(isOwn) : undefined
          return <ReportedCall key={i} call={data} result={result?.data} />
        }
        if (kind === 'ToolResult')
          return called.has(idOf(event)) ? null : <ReportedCall key={i} call={null} result={data} />
        if ((kind === 'Status' || kind === 'Error') && data === undefined && text === undefined)
          return (
            <p key={i} class={kind === 'Error' ? 'bad' : 'quiet'}>
              <Foreign text={textOrEmpty(message)} most={RESULT} />
            </p>
          )
        const { kind: _, ...rest } = event
        return <JsonView key={i} name={shown(textOrEmpty(kind) || 'event')} value={rest} open={false} />
      })}
    </>
  )
}

/** The members of a call's input that identify its subject, in the vocabularies of different agents. */
const SUBJECTS = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt']

function subjectOf(input: unknown): string {
  const members = objectMembers(input)
  const found = SUBJECTS.map((name) => members[name]).find((value) => value !== undefined)
  return plain(found ?? (Object.keys(members).length > 0 ? input : ''))
}

/** A call that an agent reports. `result` undefined: it has not reported one in this batch. `call` null: only the result. */
function ReportedCall({ call, result }: { call: unknown; result: unknown }) {
  const { name, input } = objectMembers(call)
  const { success, output } = objectMembers(result)
  const [sign, tone] = result === undefined ? ['…', 'quiet'] : success === false ? ['✗', 'bad'] : ['✓', 'good']
  return (
    <details class="reported">
      <summary>
        <span class={`sign ${tone}`}>{sign}</span>{' '}
        <span class="type tool">
          <bdi>{call === null ? 'result' : shown(textOrEmpty(name))}</bdi>
        </span>{' '}
        <span class="mono">
          <bdi>{shown(call === null ? plain(output) : subjectOf(input))}</bdi>
        </span>
      </summary>
      {call !== null && <JsonView name="input" value={input ?? null} />}
      {typeof output === 'string' ? (
        <pre>
          <Foreign text={output} most={RESULT} />
        </pre>
      ) : (
        result !== undefined && <JsonView name="output" value={output ?? null} />
      )}
    </details>
  )
}

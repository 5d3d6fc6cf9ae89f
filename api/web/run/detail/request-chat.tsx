import { useRef } from 'preact/hooks'
import { plain } from '../../../cli/output/event-words.ts'
import type { TurnRequest } from '../../../operations/window/request-schemas.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { countText } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { subjectText } from '../calls/call-text.ts'

type AnswerBlock = Readonly<Record<string, unknown>> & { readonly type: string }
type Message =
  | Exclude<TurnRequest['messages'][number], { role: 'assistant' }>
  | { readonly role: 'assistant'; readonly content: readonly AnswerBlock[] }

interface RequestChatProps {
  readonly request: {
    readonly system: string
    readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[]
    readonly messages: readonly Message[]
  }
  /** The messages of the turn before. Empty: there was none, or it cannot be read. */
  readonly before: readonly Message[]
}

/** A model request as a chat: the system prompt, the tools, and the messages. New messages are marked. */
export function RequestChat({ request: { system, tools, messages }, before }: RequestChatProps) {
  const known = new Set(before.map((message) => JSON.stringify(message)))
  const now = new Set(messages.map((message) => JSON.stringify(message)))
  const isNew = (message: Message) => before.length > 0 && !known.has(JSON.stringify(message))
  const fresh = messages.filter(isNew).length
  const list = useRef<HTMLOListElement>(null)
  const gone = before.filter((message) => !now.has(JSON.stringify(message))).length
  return (
    <div class="chat">
      <details>
        <summary>System prompt, {countText(system.length, 'character')}</summary>
        <Markdown text={system} />
      </details>
      <details>
        <summary>{countText(tools.length, 'tool')}</summary>
        <ul class="matches">
          {tools.map(({ name, description, parameters }) => (
            <li key={name}>
              <bdi class="mono">{shown(name)}</bdi>{' '}
              <span class="quiet">
                <Foreign text={description} most={300} />
              </span>
              <JsonView name="parameters" value={parameters} open={false} />
            </li>
          ))}
        </ul>
      </details>
      {gone > 0 && (
        <p class="note">
          {countText(gone, 'message')} of the turn before {gone === 1 ? 'is' : 'are'} cut, summarized or changed here.
        </p>
      )}
      <p>
        {countText(messages.length, 'message')}
        {fresh > 0 && (
          <>
            {' · '}
            <button
              type="button"
              class="link"
              onClick={() => list.current?.querySelector('.badge')?.scrollIntoView({ block: 'center' })}
            >
              {fresh.toLocaleString('en')} new since the turn before
            </button>
          </>
        )}
      </p>
      <ol class="messages" ref={list}>
        {messages.map((message, i) => (
          <li key={i} class={`message ${message.role}`}>
            <p class="quiet">
              <Speaker message={message} />
              {isNew(message) && <span class="badge">new</span>}
            </p>
            <Content message={message} />
          </li>
        ))}
      </ol>
    </div>
  )
}

function Speaker({ message }: { message: Message }) {
  if (message.role !== 'tool') return <>{message.role}</>
  return (
    <>
      result of <bdi class="mono">{shown(message.toolName)}</bdi>{' '}
      {message.isError && <span class="bad">✗ an error</span>}
    </>
  )
}

function Content({ message }: { message: Message }) {
  if (message.role === 'assistant')
    return (
      <>
        {message.content.map((block, i) => (
          <Answer key={i} block={block} />
        ))}
      </>
    )
  if (message.role !== 'tool') return <Markdown text={message.content} />
  return (
    <pre>
      <Foreign text={message.content} />
    </pre>
  )
}

function Answer({ block }: { block: AnswerBlock }) {
  const { type, text, name, input } = block
  if (type === 'text' && typeof text === 'string') return <Markdown text={text} />
  if (type !== 'tool_use') return <JsonView name={shown(type)} value={block} open={false} />
  const tool = plain(name)
  const subject = subjectText(tool, input)
  const isWhole = subject === plain(input)
  return (
    <>
      <p class="mono">
        → <bdi>{shown(`${tool} ${subject}`)}</bdi>
      </p>
      {!isWhole && <JsonView name="input" value={input} open={false} />}
    </>
  )
}

import { useMemo, useRef } from 'preact/hooks'
import { plain } from '../../../cli/output/event-words.ts'
import type { TurnRequest } from '../../../operations/window/request-schemas.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { countText, number } from '../../parts/format.ts'
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

/** The messages that the turn before did not have, and the number of its messages that are no longer there. */
function changesOf(before: readonly Message[], messages: readonly Message[]) {
  const texts = messages.map((message) => JSON.stringify(message))
  const textsBefore = before.map((message) => JSON.stringify(message))
  const [now, known] = [new Set(texts), new Set(textsBefore)]
  return {
    fresh: new Set(before.length === 0 ? [] : messages.filter((_, i) => !known.has(texts[i]!))),
    gone: textsBefore.filter((text) => !now.has(text)).length,
  }
}

/** A model request as a chat: the system prompt, the tools, and the messages. New messages are marked. */
export function RequestChat({ request: { system, tools, messages }, before }: RequestChatProps) {
  const { fresh, gone } = useMemo(() => changesOf(before, messages), [before, messages])
  const list = useRef<HTMLOListElement>(null)
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
        {fresh.size > 0 && (
          <>
            {' · '}
            <button
              type="button"
              class="link"
              onClick={() => list.current?.querySelector('.new')?.scrollIntoView({ block: 'center' })}
            >
              {number(fresh.size)} new since the turn before
            </button>
          </>
        )}
      </p>
      <ol class="messages" ref={list}>
        {messages.map((message, i) => (
          <li key={i} class={`message ${message.role}${fresh.has(message) ? ' new' : ''}`}>
            <p class="quiet">
              <Speaker message={message} />
              {fresh.has(message) && <span class="badge">new</span>}
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

import type { EventView } from '../../../operations/events/schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { CodeView } from '../../parts/code/code-view.tsx'
import { JsonView } from '../../parts/code/json-view.tsx'
import { size } from '../../parts/format.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import type { AgentModel } from '../agent-model.ts'
import { WholeResult } from '../detail/whole-result.tsx'
import { type EndedCall, listOrEmpty, objectMembers, textOrEmpty } from './call-text.ts'
import { ChildCard } from './child-card.tsx'
import { Terminal } from './terminal.tsx'
import { WrittenFile } from './written-file.tsx'

interface CallViewProps {
  readonly runId: string
  readonly tree: RunTree | null
  readonly agent: AgentModel
  readonly toolName: string
  /** Absent: still loading, or the call has none. */
  readonly start: EventView | undefined
  readonly end: EventView | undefined
  /** The delegation of the call. */
  readonly child: EventView | undefined
}

/** A call's input and output in the form of its tool: a terminal, a difference, code, a list; otherwise JSON. */
export function CallView({ start, end, ...more }: CallViewProps) {
  const args = start?.type === 'tool_call_start' ? (start.payload?.arguments ?? null) : undefined
  const ended = (end?.type === 'tool_call_end' && end.payload) || undefined
  const attachment = ended?.attachment
  return (
    <div class="call-view">
      <Kind {...more} args={args} ended={ended} end={end} />
      {ended?.error !== undefined && (
        <p class="bad">
          <Foreign text={`${ended.error.code}: ${ended.error.message}`} />
        </p>
      )}
      {(attachment !== undefined || end?.cut) && end?.toolCallId !== undefined && (
        <WholeResult
          key={end.toolCallId}
          toolCallId={end.toolCallId}
          about={attachment === undefined ? 'the whole result' : `the whole result, ${size(attachment.size)}`}
        />
      )}
    </div>
  )
}

interface KindProps extends Omit<CallViewProps, 'start'> {
  readonly args: unknown
  readonly ended: EndedCall | undefined
}

function Kind({ runId, tree, agent, toolName, args, ended, end, child }: KindProps) {
  const input = objectMembers(args)
  const result = ended?.result
  switch (toolName) {
    case 'run_command':
      return (
        <Terminal command={textOrEmpty(input.command)} cwd={textOrEmpty(input.cwd)} result={objectMembers(result)} />
      )
    case 'write_file':
      return (
        <WrittenFile
          agent={agent}
          path={textOrEmpty(input.path)}
          content={textOrEmpty(input.content)}
          end={ended?.success === true ? end : undefined}
        />
      )
    case 'read_file':
      if (typeof result === 'string')
        return <CodeView text={result} path={textOrEmpty(input.path)} first={Number(input.offset ?? 1)} />
      break
    case 'search_code':
      if (result !== undefined) return <Matches matches={listOrEmpty(objectMembers(result).matches)} />
      break
    case 'search_web':
      if (result !== undefined) return <Hits hits={listOrEmpty(objectMembers(result).results)} />
      break
    case 'delegate_to_agent':
      return <ChildCard runId={runId} tree={tree} input={input} result={result} child={child} />
    case 'complete_task':
      return <Markdown text={textOrEmpty(input.summary)} />
  }
  return <Json args={args} result={result} />
}

function Json({ args, result }: { args: unknown; result: unknown }) {
  return (
    <>
      {args !== undefined && <JsonView name="input" value={args} />}
      {typeof result === 'string' ? (
        <pre>
          <Foreign text={result} />
        </pre>
      ) : (
        result !== undefined && <JsonView name="output" value={result} />
      )}
    </>
  )
}

function Matches({ matches }: { matches: readonly unknown[] }) {
  if (matches.length === 0) return <p class="quiet">No line matches.</p>
  return (
    <ul class="matches">
      {matches.map(objectMembers).map(({ path, line, text }, i) => (
        <li key={i}>
          <span class="mono quiet">
            <bdi>{shown(textOrEmpty(path))}</bdi>:{String(line)}
          </span>{' '}
          <span class="mono">
            <Foreign text={textOrEmpty(text)} most={500} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Hits({ hits }: { hits: readonly unknown[] }) {
  if (hits.length === 0) return <p class="quiet">Nothing was found.</p>
  return (
    <ul class="matches">
      {hits.map(objectMembers).map(({ url, title, snippet }, i) => (
        <li key={i}>
          <bdi>{shown(textOrEmpty(title))}</bdi>{' '}
          <span class="mono quiet">
            <bdi>{shown(textOrEmpty(url))}</bdi>
          </span>
          <br />
          <Foreign text={textOrEmpty(snippet)} most={500} />
        </li>
      ))}
    </ul>
  )
}

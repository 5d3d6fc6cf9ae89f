import { useMemo, useState } from 'preact/hooks'
import { plain } from '../../../cli/output/event-words.ts'
import { fileEdits, patching } from '../../../operations/external/reported-edits.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { PatchView } from '../../parts/code/patch-view.tsx'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import { type Arguments, objectMembers, textOrEmpty } from '../calls/call-text.ts'

/** The most characters of a result. The detail pane shows all of it. */
const RESULT = 2_000
/** The longest time for the comparisons of a call's texts, in ms. */
const COMPARING_MS = 500

/** The members of a call's input that identify its subject, in the vocabularies of different agents. */
const SUBJECTS = ['command', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'prompt']

function subjectOf(input: unknown): string {
  const members = objectMembers(input)
  const found = SUBJECTS.map((name) => members[name]).find((value) => value !== undefined)
  return plain(found ?? (Object.keys(members).length > 0 ? input : ''))
}

/** The data of a reported event. `whole`: reads the data, if it is cut here. */
export interface ReportedData {
  readonly data: unknown
  readonly whole?: () => Promise<unknown>
}

interface ReportedCallProps {
  /** Null: only the result was reported. */
  readonly call: ReportedData | null
  /** Undefined: the agent has not reported a result in this batch. */
  readonly result: ReportedData | undefined
}

/** A call that an agent reports, on one line. It opens to the changes of files, or to its input and output. */
export function ReportedCall({ call, result }: ReportedCallProps) {
  const [isOpen, setOpen] = useState(false)
  const { name, input } = objectMembers(call?.data)
  const { success, output } = objectMembers(result?.data)
  const [sign, tone] = result === undefined ? ['…', 'quiet'] : success === false ? ['✗', 'bad'] : ['✓', 'good']
  return (
    <details class="reported" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`sign ${tone}`}>{sign}</span>{' '}
        <span class={`type ${success === false ? 'bad' : 'tool'}`}>
          <bdi>{call === null ? 'result' : shown(textOrEmpty(name))}</bdi>
        </span>{' '}
        <span class="mono">
          <bdi>{shown(call === null ? plain(output) : subjectOf(input))}</bdi>
        </span>
      </summary>
      {isOpen && <Opened call={call} result={result} />}
    </details>
  )
}

/** Loads data that is cut. */
function Opened({ call, result }: ReportedCallProps) {
  const found = useLoaded(result === undefined ? 'call' : 'ended', async () => ({
    input: objectMembers((await call?.whole?.()) ?? call?.data).input,
    result: objectMembers((await result?.whole?.()) ?? result?.data),
  }))
  return (
    <Loaded of={found}>{(data) => <Data {...data} hasCall={call !== null} hasResult={result !== undefined} />}</Loaded>
  )
}

interface DataProps {
  readonly input: unknown
  readonly result: Arguments
  readonly hasCall: boolean
  readonly hasResult: boolean
}

function Data({ input, result: told, hasCall, hasResult }: DataProps) {
  const edits = useMemo(() => {
    const patchOf = patching(COMPARING_MS)
    return fileEdits(input, told).map((edit) => ({ path: edit.path, ...patchOf(edit) }))
  }, [input, told])
  const { output } = told
  return (
    <>
      {edits.map(({ path, patch, tooLong }, n) =>
        patch === null ? (
          <p key={n} class="mono">
            <bdi>{shown(path)}</bdi>
            {tooLong && ' — too long to compare'}
          </p>
        ) : (
          <PatchView key={n} patch={patch} label={`Change of ${shown(path)}`} />
        ),
      )}
      {hasCall && edits.length === 0 && <JsonView name="input" value={input ?? null} />}
      {typeof output === 'string' ? (
        <pre>
          <Foreign text={output} most={RESULT} />
        </pre>
      ) : (
        hasResult && <JsonView name="output" value={output ?? null} />
      )}
    </>
  )
}

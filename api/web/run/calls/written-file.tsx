import { take } from '../../../http/answers.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { api } from '../../client/api.ts'
import { CodeView } from '../../parts/code/code-view.tsx'
import { PatchView } from '../../parts/code/patch-view.tsx'
import { useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { AgentModel } from '../agent-model.ts'

interface WrittenFileProps {
  readonly agent: AgentModel
  readonly path: string
  readonly content: string
  /** The end of the call. Absent: the call has not ended, or it failed. */
  readonly end: EventView | undefined
}

/** A written file: the difference that the call made. Without versions of the files: the text to write. */
export function WrittenFile({ end, ...props }: WrittenFileProps) {
  if (end === undefined) return <CodeView text={props.content} path={props.path} />
  return <Changed {...props} step={props.agent.outline.steps[end.revision] ?? 0} />
}

function Changed({ agent, path, content, step }: Omit<WrittenFileProps, 'end'> & { readonly step: number }) {
  const id = agent.agentId
  const found = useLoaded(`${id} ${step}`, () =>
    take(
      api.v1.runs[':id'].diff.$get({
        param: { id },
        query: { a: `${id}:${step - 1}`, b: `${id}:${step}`, only: 'files' },
      }),
    ),
  )
  if (found === null) return <p class="quiet">loading …</p>
  const patch = 'value' in found ? (found.value.files?.patch ?? '') : ''
  if (patch === '') return <CodeView text={content} path={path} />
  return <PatchView patch={patch} label={`Change of ${shown(path)}`} />
}

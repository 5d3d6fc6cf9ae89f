import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { JsonView } from '../parts/code/json-view.tsx'
import { PatchView } from '../parts/code/patch-view.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { ValueDiff } from './value-diff.tsx'

export interface Steps {
  /** `<agent>:<step>`. */
  readonly a: string
  readonly b: string
}

/** Compares the state, the messages and the files of two steps, of one run or of two. */
export function StepsCompared({ a, b }: Steps) {
  const found = useLoaded(`${a} ${b}`, () =>
    take(api.v1.runs[':id'].diff.$get({ param: { id: a.slice(0, a.lastIndexOf(':')) }, query: { a, b } })),
  )
  return (
    <Loaded of={found}>
      {({ state, messages, files }) => (
        <>
          <h3>State</h3>
          {state.length === 0 && <p class="quiet">no difference</p>}
          {state.map((one) => (
            <div key={one.path} class="difference">
              <code>{shown(one.path)}</code>
              <ValueDiff a={one.a} b={one.b} label={`Difference of ${shown(one.path)}`} />
            </div>
          ))}
          <h3>Messages</h3>
          <p class="quiet">the first {messages.common} are the same</p>
          {messages.onlyA.length > 0 && (
            <div class="removed">
              <JsonView value={messages.onlyA} open={false} />
            </div>
          )}
          {messages.onlyB.length > 0 && (
            <div class="added">
              <JsonView value={messages.onlyB} open={false} />
            </div>
          )}
          <h3>Files</h3>
          {files === null || files.patch === '' ? (
            <p class="quiet">no difference</p>
          ) : (
            <PatchView patch={files.patch} label="Difference of files" />
          )}
        </>
      )}
    </Loaded>
  )
}

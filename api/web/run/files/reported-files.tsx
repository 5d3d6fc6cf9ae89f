import { take } from '../../../http/answers.ts'
import type { ReportedEdits } from '../../../operations/external/schemas.ts'
import { api } from '../../client/api.ts'
import { query, setQuery } from '../../page/router.ts'
import { PatchView } from '../../parts/code/patch-view.tsx'
import { countText } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from '../detail/detail-props.ts'
import { goTo } from '../position.ts'

type Edit = ReportedEdits['edits'][number]

/** The files that an external agent has reported as edited up to the position, and the edits of one file. */
export function ReportedFiles({ agent, place }: Pick<DetailProps, 'agent' | 'place'>) {
  const path = query.value.get('file')
  const found = useLoaded(`edits ${agent.agentId} ${place}`, () =>
    take(api.v1.agents[':id'].edits.$get({ param: { id: agent.agentId }, query: { event: String(place) } })),
  )
  return (
    <>
      <h2>Files up to event {place}</h2>
      <Loaded of={found}>
        {({ edits, more }) => {
          const files = Map.groupBy(edits, (edit) => edit.path)
          if (files.size === 0) return <p class="quiet">The agent has reported no edit of a file.</p>
          const chosen = path === null ? undefined : files.get(path)
          return (
            <>
              {more && <p class="quiet">The newest edits; there are older ones.</p>}
              <ul class="files">
                {[...files].map(([name, of]) => (
                  <li key={name}>
                    <button
                      type="button"
                      class="link mono"
                      aria-expanded={name === path}
                      onClick={() => setQuery({ file: name === path ? null : name })}
                    >
                      <bdi>{shown(name)}</bdi>
                    </button>{' '}
                    <span class="quiet">{countText(of.length, 'edit')}</span>
                  </li>
                ))}
              </ul>
              {chosen?.map((edit, n) => (
                <OneEdit key={n} edit={edit} />
              ))}
            </>
          )
        }}
      </Loaded>
    </>
  )
}

function OneEdit({ edit: { revision, path, patch, success } }: { edit: Edit }) {
  return (
    <div class="difference">
      <p class={success === false ? 'bad' : 'quiet'}>
        <button type="button" class="link" onClick={() => goTo(revision)}>
          #{revision}
        </button>
        {success === false && ' failed'}
        {success === null && ' not ended'}
      </p>
      {patch === null ? (
        <p class="quiet">The agent reports no difference.</p>
      ) : (
        <PatchView patch={patch} label={`Change of ${shown(path)}`} />
      )}
    </div>
  )
}

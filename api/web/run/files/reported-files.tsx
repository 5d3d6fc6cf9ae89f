import { useEffect, useMemo } from 'preact/hooks'
import type { ReportedEdits } from '../../../operations/external/schemas.ts'
import { listen } from '../../client/feed.ts'
import { query, setQuery } from '../../page/router.ts'
import { PatchView } from '../../parts/code/patch-view.tsx'
import { countText } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from '../detail/detail-props.ts'
import { goTo } from '../position.ts'
import { editsOf } from '../states-at-position.ts'

type Edit = ReportedEdits['edits'][number]

/** The files that an external agent has reported as edited up to the position, and the edits of one file. */
export function ReportedFiles({ agent, place }: Pick<DetailProps, 'agent' | 'place'>) {
  const { agentId, outline } = agent
  const edits = useMemo(() => editsOf(agentId), [agentId])
  // Other events change no edit. An erasure removes edits.
  const last = outline.lastOf(['agent_events', 'erased'], place)
  useEffect(() => {
    if (last !== null) edits.show(last)
  }, [edits, last])
  useEffect(() => listen({ connected: () => edits.again() }), [edits])
  const found = edits.current.value
  const fault = edits.fault.value
  return (
    <>
      <h2>Files up to event {last === null || found?.revision === last ? place : (found?.revision ?? place)}</h2>
      {fault !== '' && <p class="fault">{fault}</p>}
      {last === null ? (
        <p class="quiet">{NO_EDIT}</p>
      ) : found === null ? (
        fault === '' && <p class="quiet">loading …</p>
      ) : (
        <Files of={found} />
      )}
    </>
  )
}

const NO_EDIT = 'The agent has reported no edit of a file.'

function Files({ of: { edits, more } }: { of: ReportedEdits }) {
  const path = query.value.get('file')
  const files = Map.groupBy(edits, (edit) => edit.path)
  if (files.size === 0) return <p class="quiet">{NO_EDIT}</p>
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
            {of.some(({ success }) => success === false) && (
              <span class="bad"> {of.filter(({ success }) => success === false).length} failed</span>
            )}
          </li>
        ))}
      </ul>
      {chosen?.map((edit, n) => (
        <OneEdit key={n} edit={edit} />
      ))}
    </>
  )
}

function OneEdit({ edit: { revision, path, patch, tooLong, success } }: { edit: Edit }) {
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
        <p class="quiet">{tooLong ? 'The texts are too long to compare.' : 'The agent reports no difference.'}</p>
      ) : (
        <PatchView patch={patch} label={`Change of ${shown(path)}`} />
      )}
    </div>
  )
}

import { useEffect, useMemo, useState } from 'preact/hooks'
import { useTitle } from '../page/title.ts'
import { DataTable } from '../parts/data-table.tsx'
import { countText, number } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import type { CheckedPack } from './check.ts'
import { openedPack, openPack } from './opened-pack.ts'
import { PackChecker } from './pack-checker.ts'

/** The verdict about a pack, its contents and its story. Everything happens in the browser. */
export function PackScreen() {
  useTitle('Pack')
  const file = openedPack.value
  return (
    <div class="screen">
      <div class="bar">
        <h1>Pack</h1>
        <label>
          File{' '}
          <input
            type="file"
            onChange={(event) => {
              const chosen = event.currentTarget.files?.[0]
              if (chosen !== undefined) openPack(chosen)
            }}
          />
        </label>
      </div>
      {file === null ? <Empty /> : <Pack file={file} />}
    </div>
  )
}

const Empty = () => (
  <div class="notice">
    <h2>Drop a pack here</h2>
    <p>
      It is checked in this browser, as <code>keepup pack --check</code> does; nothing of it is sent anywhere. Make a
      pack with:
    </p>
    <pre>keepup pack RUN --to FILE</pre>
  </div>
)

function Pack({ file }: { file: File }) {
  const checker = useMemo(() => new PackChecker(file), [file])
  const [vkey, setVkey] = useState('')
  const start = () => checker.check(vkey.trim() || null)
  useEffect(() => {
    start()
    return () => checker.stop()
  }, [checker])
  const told = checker.told.value
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll" tabIndex={0}>
      <p>
        <bdi>{shown(file.name)}</bdi>, {number(file.size)} bytes. It is checked in this browser; nothing of it is sent
        anywhere.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <label class="wide">
          The key that you got from another source{' '}
          <input
            class="mono"
            value={vkey}
            placeholder="name+id+key"
            onInput={(event) => setVkey(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Check with this key</button>
      </form>
      {'fault' in told ? (
        <p class="fault" role="alert">
          {shown(told.fault)}
        </p>
      ) : 'read' in told ? (
        <p role="status">
          <progress max={Math.max(1, file.size)} value={told.read} aria-label="Checked" /> checking …
        </p>
      ) : (
        <Found found={told.found} vkey={checker.vkey.value} file={file} />
      )}
    </div>
  )
}

function Found({ found, vkey, file }: { found: CheckedPack; vkey: string | null; file: File }) {
  return (
    <>
      <Verdict found={found} vkey={vkey} />
      {found.problems.map(({ place, message }) => (
        <p key={place + message} class="bad">
          <bdi>{shown(`${place}: ${message}`)}</bdi>
        </p>
      ))}
      {found.unproved.map((text) => (
        <p key={text}>not proved: {shown(text)}</p>
      ))}
      <dl class="facts">
        <dt>signed by</dt>
        <dd>
          {found.vkeys.length === 0
            ? 'no key that was compared'
            : found.vkeys.map((key) => (
                <div key={key} class="mono">
                  {shown(key)}
                </div>
              ))}
        </dd>
        <dt>log</dt>
        <dd>
          {found.size === null ? 'not known' : `${shown(found.origin ?? '')}, ${countText(found.size, 'event')} signed`}
        </dd>
        <dt>anchored</dt>
        <dd>
          {found.witnesses.length > 0
            ? `cosigned by ${shown(found.witnesses.join(', '))}`
            : vkey === null
              ? 'no witness cosigned the head'
              : 'cosignatures are not checked with a key of yours'}
        </dd>
        <dt>bodies</dt>
        <dd>
          {number(found.bodies)} of {countText(found.events, 'event')}
          {found.absent.map(({ why, events }) => (
            <div key={why}>
              {number(events)} <bdi>{shown(why)}</bdi>
            </div>
          ))}
        </dd>
      </dl>
      {found.contents.length > 0 && (
        <DataTable
          label="Streams of the pack"
          columns={['run', 'stream', 'events', 'last', 'erased', 'withheld'].map((name) => ({ name }))}
          rows={found.contents.map(({ runId, stream, events, last, erased, withheld }) => [
            ...[runId, stream, events, last, erased, withheld],
          ])}
        />
      )}
      {found.story !== null && <Story file={file} place={found.story} ok={found.ok} />}
    </>
  )
}

function Verdict({ found, vkey }: { found: CheckedPack; vkey: string | null }) {
  const [place, ...more] = found.problems
  if (place !== undefined || !found.ok)
    return (
      <p role="status" class="bad">
        <strong>✗ The pack is broken</strong>
        {more.length > 0 && `: ${countText(found.problems.length, 'finding')}`}
      </p>
    )
  if (vkey !== null)
    return (
      <p role="status" class="good">
        <strong>✓ The pack holds, and the key that you gave signed it</strong>
      </p>
    )
  return (
    <div role="status">
      <p class="good">
        <strong>✓ The parts of the pack belong together</strong>
      </p>
      <p class="warning">
        Only the keys in the pack itself were used. Whoever forges a whole pack can sign it with a key of their own: get
        the key of the log in another way, and check with it.
      </p>
    </div>
  )
}

function Story({ file, place, ok }: { file: File; place: { offset: number; size: number }; ok: boolean }) {
  const [url, setUrl] = useState('')
  useEffect(() => {
    const story = URL.createObjectURL(file.slice(place.offset, place.offset + place.size, 'text/html;charset=utf-8'))
    setUrl(story)
    return () => URL.revokeObjectURL(story)
  }, [file, place])
  return (
    <section>
      <h2>What the pack tells</h2>
      <p class="quiet">
        {ok ? 'A reading aid; no signature covers it.' : 'The pack is broken, and no signature covers this text.'} It is
        shown without scripts, and it can load nothing.
      </p>
      {url !== '' && <iframe class="story" title="The story in the pack" sandbox="" src={url} />}
    </section>
  )
}

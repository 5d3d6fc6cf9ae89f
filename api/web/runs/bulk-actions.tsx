import { useEffect, useRef, useState } from 'preact/hooks'
import { randomId, refusal, take } from '../../http/answers.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { useRights } from '../access/rights.ts'
import { busy, run } from '../actions/command.ts'
import { api, errorText, send } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go } from '../page/router.ts'
import { countText, number } from '../parts/format.ts'
import { saveBlob } from '../parts/save.ts'
import { MOST_RUNS, namesOf, resultText, toEach } from './bulk.ts'

interface BulkActionsProps {
  readonly runs: readonly Run[]
  /** Chooses these runs instead. */
  readonly onChoose: (runIds: readonly string[]) => void
}

type Kind = 'cancel' | 'fork'
const hasEnded = ({ status }: Run): boolean => status === 'completed' || status === 'failed'

/** The commands for several runs at once, as far as the person has the rights. */
export function BulkActions({ runs, onChoose }: BulkActionsProps) {
  const rights = useRights()
  // The question is about these runs, also if the list changes meanwhile.
  const [asks, setAsks] = useState<{ readonly kind: Kind; readonly runs: readonly Run[] } | null>(null)
  const [tried, setTried] = useState<number | null>(null)
  const stop = useRef(false)
  // A run that did not take a command gets the same key again, so that a repetition counts as one command.
  const keys = useRef(new Map<string, string>())
  useEffect(
    () => () => {
      stop.current = true
    },
    [],
  )
  const open = runs.filter((run) => !hasEnded(run))
  const forkable = runs.filter(({ ungoverned }) => !ungoverned)
  const by = person()
  const perform = async ({ kind, runs: asked }: NonNullable<typeof asks>) => {
    const ids = asked.map(({ runId }) => runId)
    stop.current = false
    const command = async (id: string) => {
      const name = `${kind} ${id}`
      const key = keys.current.get(name) ?? randomId()
      keys.current.set(name, key)
      const request = { param: { id }, header: { 'idempotency-key': key }, json: { by } }
      if (kind === 'cancel') await take(api.v1.runs[':id'].cancel.$post(request))
      else await take(api.v1.runs[':id'].fork.$post(request))
      keys.current.delete(name)
    }
    const isStopped = (tried: number) => {
      setTried(tried)
      return stop.current
    }
    const verb = kind === 'cancel' ? 'asked to end' : 'forked'
    await run(`${countText(ids.length, 'run')} ${verb}.`, async () => {
      const result = await toEach({ ids, command, textOf: errorText, isStopped })
      const done = new Set(result.done)
      onChoose(result.done.length === ids.length ? [] : ids.filter((id) => !done.has(id)))
      if (result.done.length < ids.length) throw new Error(resultText(result, ids.length, verb))
    })
    setTried(null)
    setAsks(null)
  }
  const pack = () =>
    run('Exported as a pack: drop the file on this page to check it.', async () => {
      const which = new URLSearchParams(runs.map(({ runId }) => ['run', runId]))
      const answer = await send(`/v1/packs?${which}`)
      if (!answer.ok) throw await refusal(answer)
      saveBlob('runs.keepup-pack.tar', await answer.blob())
    })
  if (asks !== null && tried !== null)
    return (
      <div class="bar bulk">
        <span role="status">
          {number(tried)} of {countText(asks.runs.length, 'run')} …
        </span>
        <button
          type="button"
          onClick={() => {
            stop.current = true
          }}
        >
          Stop
        </button>
      </div>
    )
  const ask = (kind: Kind, runs: readonly Run[]) => (
    <button
      type="button"
      disabled={runs.length === 0 || runs.length > MOST_RUNS}
      onClick={() => setAsks({ kind, runs })}
    >
      {kind === 'cancel' ? 'Cancel' : 'Fork'}
    </button>
  )
  return (
    <fieldset class="bar bulk" disabled={busy.value} aria-label="Actions for the chosen runs">
      <span role="status">{countText(runs.length, 'run')} chosen</span>
      {runs.length > MOST_RUNS && <span>An action takes at most {MOST_RUNS} runs.</span>}
      {asks === null ? (
        <>
          {rights?.has('runs.steer') && ask('cancel', open)}
          {rights?.has('runs.start') && ask('fork', forkable)}
          {rights?.has('log.verify') && (
            <button type="button" disabled={runs.length > MOST_RUNS} onClick={pack}>
              Export
            </button>
          )}
          {rights?.has('bodies.read') && runs.length === 2 && (
            <button type="button" onClick={() => go(`/compare?a=${runs[1]!.runId}&b=${runs[0]!.runId}`)}>
              Compare
            </button>
          )}
          <button type="button" class="plain" onClick={() => onChoose([])}>
            Choose none
          </button>
        </>
      ) : (
        <>
          <span>
            {asks.kind === 'cancel'
              ? `End ${countText(asks.runs.length, 'run')}: ${namesOf(asks.runs)}?`
              : `Fork ${countText(asks.runs.length, 'run')} at their ends: ${namesOf(asks.runs)}? ${waitsText(asks.runs.filter(hasEnded).length)}`}{' '}
            {asks.kind === 'cancel'
              ? left(runs.length - open.length, 'ended before')
              : left(runs.length - forkable.length, 'by other agents cannot be forked')}
          </span>
          <button type="button" class="main" onClick={() => perform(asks)}>
            {asks.kind === 'cancel' ? 'End them' : 'Fork them'}
          </button>
          <button type="button" onClick={() => setAsks(null)}>
            Leave them
          </button>
        </>
      )}
    </fieldset>
  )
}

const waitsText = (ended: number): string =>
  ended === 0
    ? ''
    : `${ended === 1 ? 'The fork of 1 ended run waits' : `The forks of ${ended} ended runs wait`} for an input.`

const left = (n: number, why: string): string => (n === 0 ? '' : `${n} ${why}.`)

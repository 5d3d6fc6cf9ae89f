import { useEffect, useMemo } from 'preact/hooks'
import { KINDS_OF_RUNS } from '../../../domain/log/owner.ts'
import type { RunTree } from '../../operations/runs/schemas.ts'
import { useRights } from '../access/rights.ts'
import { RunActions } from '../actions/run-actions.tsx'
import { RunAsks } from '../actions/run-asks.tsx'
import { Annotations } from '../annotation/annotations.tsx'
import { listen, watchText } from '../client/feed.ts'
import { Held } from '../keeping/hold-notice.tsx'
import { query } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { money, short } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { StatusMark } from '../runs/status-mark.tsx'
import { Scrubber } from '../scrubber/scrubber.tsx'
import { DetailPane } from './detail/detail-pane.tsx'
import { at, positionIn } from './position.ts'
import { reasonsOf } from './reasons.ts'
import { type Detail, RunModel } from './run-model.ts'
import { TimelinePane } from './timeline/timeline-pane.tsx'
import { TreePane } from './tree/tree-pane.tsx'
import { useCall } from './use-call.ts'

/** A run: its agents and turns, its events, and the details of one event, all at one position. */
export function RunScreen({ runId }: { runId: string }) {
  const model = useMemo(() => new RunModel(runId), [runId])
  useEffect(() => {
    const leave = listen({
      event: (event) => model.hear(event),
      news: (news) => model.hearNews(news),
      connected: () => model.catchUp(),
    })
    watchText(runId)
    return () => {
      leave()
      watchText(null)
      model.end()
    }
  }, [model])
  const detail = model.detail.value
  useTitle(detail?.run.task ?? runId)
  const asked = query.value.get('agent') ?? runId
  const isStranger = model.isStranger(asked)
  const agentId = isStranger ? runId : asked
  const agent = model.agent(agentId)
  const place = positionIn(agent.length.value)
  const states = model.states(agentId)
  const governed = model.governs(agentId)
  useCall(agent)
  const trees = model.trees(agentId)
  const rights = useRights()
  const isPast = at.value !== null && agent.length.value > 0 && (model.tree.value?.agents.length ?? 0) > 1
  useEffect(() => {
    if (isPast) trees.show(place)
  }, [trees, place, isPast])
  useEffect(() => {
    if (agent.length.value > 0 && governed === true) states.show(place)
  }, [states, place, agent.length.value > 0, governed])
  if (detail === null && model.fault.value !== '')
    return (
      <Notice title="This run cannot be shown">
        <p role="alert">{model.fault.value}</p>
      </Notice>
    )
  const told = isStranger ? `${shown(asked)} is no agent of this run; its root agent is shown` : ''
  const found = [model.fault, agent.fault, agent.events.fault, states.fault, trees.fault].map((fault) => fault.value)
  const faults = new Set([told, ...found].filter((one) => one !== ''))
  return (
    <div class="screen run">
      <RunHead
        detail={detail}
        runId={runId}
        step={agentId === runId ? (agent.outline.steps[place] ?? null) : null}
        canHold={rights?.has('runs.erase') ?? false}
        canRunAgain={(rights?.has('runs.start') && rights.has('bodies.read')) ?? false}
      />
      {[...faults].map((fault) => (
        <p key={fault} class="fault" role="alert">
          {fault}
        </p>
      ))}
      {detail !== null && <Reasons detail={detail} />}
      {detail !== null && <Annotations runId={runId} tags={detail.run.tags} onChange={() => model.refresh()} />}
      {rights?.has('access.read') && <Held streams={streamsOf(runId, model.tree.value)} />}
      {detail !== null && <RunAsks detail={detail} />}
      <Scrubber agent={agent} place={place} />
      <div class={(model.tree.value?.agents.length ?? 0) > 1 ? 'panes several' : 'panes'}>
        <TreePane tree={model.tree.value} then={isPast ? trees.current.value : null} agent={agent} place={place} />
        <TimelinePane model={model} tree={model.tree.value} agent={agent} place={place} />
        <DetailPane
          {...{ runId, agent, place, states }}
          governed={governed !== false}
          isHeadLoaded={detail !== null && model.tree.value !== null}
        />
      </div>
    </div>
  )
}

/** The streams of a run and its agents, with words for each. */
function streamsOf(runId: string, tree: RunTree | null): ReadonlyMap<string, string> {
  const agents = [{ agentId: runId }, ...(tree?.agents ?? []), ...(tree?.recorded ?? [])]
  return new Map(
    agents.flatMap(({ agentId }) =>
      KINDS_OF_RUNS.map((kind) => [
        `${kind}-${agentId}`,
        agentId === runId ? 'This run' : `Its agent ${short(agentId)}`,
      ]),
    ),
  )
}

function Reasons({ detail }: { detail: Detail }) {
  const reasons = reasonsOf(detail)
  if (reasons.length === 0) return null
  return (
    <ul class="reasons">
      {reasons.map(({ title, text, bad, to }) => (
        <li key={text} class={bad ? 'bad' : ''}>
          {title !== undefined && <strong>{shown(title)}</strong>} <Foreign text={text} most={1_000} />{' '}
          {to !== undefined && <a href={to[0]}>{to[1]}</a>}
        </li>
      ))}
    </ul>
  )
}

interface HeadProps {
  readonly detail: Detail | null
  readonly runId: string
  /** The root agent's step at the position. Null: the page shows another agent. */
  readonly step: number | null
  readonly canHold: boolean
  readonly canRunAgain: boolean
}

function RunHead({ detail, runId, step, canHold, canRunAgain }: HeadProps) {
  if (detail === null) return <h1 class="bar">{runId}</h1>
  const { run } = detail
  const { source } = run
  return (
    <div class="bar run-head">
      <StatusMark run={run} />
      <h1>
        <bdi>{shown(run.task ?? runId)}</bdi>
      </h1>
      <span class="quiet">
        <bdi>{shown([run.role, run.model].filter(Boolean).join(' · '))}</bdi>
      </span>
      <span class="figures">
        <a href={`/numbers?run=${runId}`} title="Numbers of this run">
          {money(run.total.nanoDollars)}
        </a>
        {!run.ungoverned && ` · turn ${run.turn} · step ${run.step}`}
      </span>
      {source !== null && (
        <a class="badge" href={`/runs/${source.agentId}`}>
          fork at step {source.step}
        </a>
      )}
      {run.continues !== null && (
        <a class="badge" href={`/runs/${run.continues}`}>
          continues {short(run.continues)}
        </a>
      )}
      {detail.continuedBy.map((id) => (
        <a key={id} class="badge" href={`/runs/${id}`}>
          continued by {short(id)}
        </a>
      ))}
      {run.ungoverned && <span class="badge">ungoverned</span>}
      {run.incomplete && <span class="badge">incomplete</span>}
      {run.shortened && <span class="badge">shortened log</span>}
      {!run.ungoverned && (
        <a class="button" href={source === null ? `/compare?a=${runId}` : `/compare?a=${source.agentId}&b=${runId}`}>
          Compare
        </a>
      )}
      <RunActions detail={detail} step={step} canHold={canHold} canRunAgain={canRunAgain} />
    </div>
  )
}

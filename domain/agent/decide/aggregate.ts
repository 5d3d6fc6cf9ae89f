import { CommandRejected } from '../../calls/errors.ts'
import type { Header } from '../../log/envelope.ts'
import { agentStream, childAgentId } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { Aggregate, StreamPlace } from '../../stream/aggregate.ts'
import { erasingBy } from '../../stream/erasure.ts'
import { ATTACHING, attachmentIn, attachmentOf } from '../events/attachment.ts'
import { reading } from '../events/codec.ts'
import type { AgentEvent } from '../events/events.ts'
import { residues } from '../events/residue.ts'
import { AGENT_FOLD, digestOf, earlierDigest } from '../state/digest.ts'
import { evolveAgent } from '../state/evolve.ts'
import { type AgentState, REMEMBERED } from '../state/state.ts'
import type { AgentCommand } from './commands.ts'
import { decideAgent, type Identity } from './decide.ts'
import type { AgentDraft } from './decision-builder.ts'
import type { DecisionContext } from './decision-context.ts'
import { wakeAt } from './wake-at.ts'

/** The agent as one kind of stream: `agent-<agentId>`. */
export const agent: Aggregate<AgentState, AgentEvent, AgentCommand, DecisionContext> = {
  kind: 'agent',
  fold: AGENT_FOLD,
  ...reading,
  evolve: evolveAgent,
  decide: (state, place, command, context) => decideAgent(state, identityOf(state, place, command), command, context),
  wakeAt,
  digest: digestOf,
  earlierDigest,
  commands: (state) => state.commands,
  remembered: REMEMBERED,
  reject: (code, message) => new CommandRejected(code, message),
  erasing: { ...erasingBy(residues), ending },
  inherited: (event) => (event.type === 'forked' ? event.body : null),
  bears: ({ type, toolCallId }) =>
    type === 'child_delegated' && toolCallId !== undefined ? agentStream(childAgentId(toolCallId)) : null,
  attaching: ATTACHING,
  attachment: attachmentIn,
  attached,
}

/** A root agent's id is its run id; a child belongs to its parent's run. */
function identityOf(state: AgentState | null, { stream, revision }: StreamPlace, command: AgentCommand): Identity {
  const agentId = idOf(stream)
  const born = command.kind === 'start' || command.kind === 'deliver_birth' ? command.birth?.runId : undefined
  return { agentId, runId: state?.runId ?? born ?? agentId, revision }
}

/**
 * The whole results that the drafts refer to. A fact that arrives too late is not recorded, and its blob is not stored.
 */
function attached(drafts: readonly AgentDraft[], command: AgentCommand) {
  const brings = command.kind === 'tool_succeeded' || command.kind === 'tool_reused'
  if (!brings || command.attached === undefined) return []
  const { attachment, bytes } = command.attached
  const named = drafts.some(({ event }) => attachmentOf(event)?.hash === attachment.hash)
  return named ? [{ hash: attachment.hash, bytes }] : []
}

/**
 * Detects the end of a run by event types alone, because bodies may be erased. An `error` inside a turn is a failed
 * model attempt; an `error` outside a turn ends the run.
 */
function ending() {
  let inTurn = false
  let ended = false
  return {
    see({ type }: Header) {
      if (type === 'turn_start') inTurn = true
      else if (type === 'turn_end') inTurn = false
      else if (type === 'completion' || (type === 'error' && !inTurn)) ended = true
    },
    get ended() {
      return ended
    },
  }
}

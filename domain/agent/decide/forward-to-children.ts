import type { Child } from '../../tree/family.ts'
import { isFinished } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'

const open = (d: DecisionBuilder) => Object.entries(d.state.family.children).filter(([, { unreached }]) => !unreached)
/** External agents cannot be paused; they continue like a running tool. */
const pausable = (d: DecisionBuilder) => open(d).filter(([, { external }]) => external === undefined)
const ofKind = ({ external }: Child) => (external === undefined ? {} : { external })

/**
 * Children must end before their parent's deadline. Each level of the tree gets three quarters of the remaining time.
 */
export function forwardCancel(d: DecisionBuilder): void {
  const { cancel } = d.state
  const left = cancel === null ? 0 : cancel.deadlineAt - d.context.now
  const deadlineMs = Math.max(1, Math.floor((left * 3) / 4))
  const reason = cancel?.reason === undefined ? {} : { reason: cancel.reason }
  for (const [childId, child] of open(d))
    if (!child.cancelled) d.emit('cancel_forwarded', { childId, ...ofKind(child), deadlineMs, ...reason })
}

export function forwardPause(d: DecisionBuilder, reason?: string): void {
  const why = reason === undefined ? {} : { reason }
  for (const [childId] of pausable(d)) d.emit('pause_forwarded', { childId, ...why })
}

export function forwardResume(d: DecisionBuilder): void {
  for (const [childId] of pausable(d)) d.emit('resume_forwarded', { childId })
}

/** The agent continues without a child. If the agent has not finished, it also cancels the child. */
export function leaveChild(d: DecisionBuilder, childId: string, reason: string): void {
  const child = d.state.family.children[childId]
  if (child === undefined || child.unreached) return
  if (!child.cancelled && !isFinished(d.state)) {
    d.emit('cancel_forwarded', { childId, ...ofKind(child), deadlineMs: LEFT_MS, reason })
  }
  d.emit('child_unreached', { childId, reason })
}

/** The cancel deadline for a child that the agent continues without, ms. */
const LEFT_MS = 10_000

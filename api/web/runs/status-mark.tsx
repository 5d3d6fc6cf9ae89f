import type { Run } from '../../operations/runs/schemas.ts'
import { askOf } from './filters.ts'

type Standing = Pick<Run, 'status' | 'waiting' | 'paused' | 'driving' | 'interrupted' | 'error'>

/** A run's status in one word. */
export function standing(run: Standing): string {
  if (run.status === 'completed') return 'done'
  if (run.status === 'failed') return run.error?.code === 'CANCELLED' ? 'cancelled' : 'failed'
  if (askOf(run.waiting) !== null) return 'asks'
  if (run.paused) return 'paused'
  if (run.waiting.length > 0) return 'waits'
  if (run.interrupted) return 'interrupted'
  return run.status === 'recovering' ? 'recovering' : run.driving ? 'works' : 'active'
}

/** Shape and word, so the status does not depend on colour alone. */
const SIGNS: Readonly<Record<string, string>> = {
  done: '✓',
  failed: '✗',
  cancelled: '⊘',
  asks: '?',
  paused: '‖',
  waits: '…',
  interrupted: '!',
  recovering: '↺',
  works: '▶',
  active: '○',
}

export function StatusMark({ run }: { run: Standing }) {
  const word = standing(run)
  return (
    <span class={`status ${word}`}>
      <span aria-hidden="true">{SIGNS[word]}</span> {word}
    </span>
  )
}

import type { FileVersion } from '../../../domain/agent/runtime/history/file-versions.ts'
import type { AgentState } from '../../../domain/agent/state/state.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { At } from '../../../domain/stream/point.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { Boundary } from '../host/secret-boundary.ts'
import type { AgentFiles } from './agent-files.ts'

/** A point of a history with the version of its files. `tree` null: no version was stored. */
export interface FilesAtPoint {
  readonly state: AgentState
  readonly tree: string | null
}

export interface FileSources {
  readonly dataFolder: string
  readonly log: Pick<EventLog, 'head'>
  filesAt(agentId: string, at: At): Promise<FilesAtPoint>
  versionsOf(agentId: string, toStep: number): Promise<readonly FileVersion[]>
  /** The files of an external agent's run. Null: the id is not one. */
  agentFilesAt(agentId: string, at: At): Promise<AgentFiles | null>
  boundary(spec: Pick<AgentSpec, 'secrets' | 'policy'>): Promise<Boundary>
}

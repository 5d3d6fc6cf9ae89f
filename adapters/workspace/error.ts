import { CodedError } from '../../domain/log/coded-error.ts'

/** A folder cannot be used as a workspace, permanently or at present. `message` contains the cause and the remedy. */
export class WorkspaceError extends CodedError<WorkspaceErrorCode> {
  override readonly name = 'WorkspaceError'
}

export type WorkspaceErrorCode =
  | 'WORKSPACE_MISSING'
  | 'WORKSPACE_UNREADABLE'
  | 'WORKSPACE_NOT_A_FOLDER'
  | 'WORKSPACE_HOLDS_DATA' // the workspace contains the data folder, or the data folder contains the workspace
  | 'WORKSPACE_MOVED' // the path now leads to another folder than the recorded one
  | 'WORKSPACE_BUSY'
  | 'VERSIONS_DAMAGED' // the repository of the shadow versions was altered or damaged

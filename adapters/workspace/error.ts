/** A folder cannot be used as a workspace, or not now. `message` says what is wrong and what to do. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code: WorkspaceErrorCode
  constructor(code: WorkspaceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type WorkspaceErrorCode =
  | 'WORKSPACE_MISSING'
  | 'WORKSPACE_UNREADABLE'
  | 'WORKSPACE_NOT_A_FOLDER'
  | 'WORKSPACE_HOLDS_DATA' // the data folder lies inside, or the workspace inside the data folder
  | 'WORKSPACE_MOVED' // its path leads to another folder than the one that was recorded
  | 'WORKSPACE_BUSY'
  | 'VERSIONS_DAMAGED' // the repository of the shadow versions is not as it was written

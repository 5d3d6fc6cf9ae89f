import { liesIn } from '../files/inside.ts'
import { workspaceAround } from '../workspace/lock.ts'

/**
 * Whether agents may write to a real path: in this workspace (a real path), or in any workspace of the data folder's
 * runs.
 */
export const inWorkspaces =
  (workspace: string, dataFolder?: string) =>
  (path: string): boolean =>
    liesIn(workspace, path) || (dataFolder !== undefined && workspaceAround(path, dataFolder) !== null)

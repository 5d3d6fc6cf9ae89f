import { liesIn } from '../files/inside.ts'
import { workspaceAround } from '../workspace/lock.ts'

/**
 * Whether agents may write to a real path: it lies in this workspace (a real path), or in one that runs of the data folder
 * have worked in.
 */
export const inWorkspaces =
  (workspace: string, dataFolder?: string) =>
  (path: string): boolean =>
    liesIn(workspace, path) || (dataFolder !== undefined && workspaceAround(path, dataFolder) !== null)

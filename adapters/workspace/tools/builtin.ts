import type { Tool } from '../../../domain/ports/index.ts'
import { listDirTool } from './list-dir.ts'
import { readFileTool } from './read-file.ts'
import { runCommandTool } from './run-command.ts'
import { searchCodeTool } from './search-code.ts'
import { writeFileTool } from './write-file.ts'

/** The tools that work on a workspace. */
export const workspaceTools = (): readonly Tool[] => [
  readFileTool,
  writeFileTool,
  listDirTool,
  searchCodeTool,
  runCommandTool,
]

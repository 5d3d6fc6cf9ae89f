import type { RoleDefinition } from '../definition/spec.ts'
import type { ToolSpec } from '../definition/tools.ts'
import { advancePhase } from './advance-phase.ts'
import { askUser } from './ask-user.ts'
import { completeTask } from './complete-task.ts'
import { type ControlTool, isFor } from './control-tool.ts'
import { delegateToAgent } from './delegate-to-agent.ts'
import { forget } from './forget.ts'
import { publish } from './publish.ts'
import { readHistory } from './read-history.ts'
import { readResult } from './read-result.ts'
import { recall } from './recall.ts'
import { remember } from './remember.ts'
import { requestPermission } from './request-permission.ts'
import { respond } from './respond.ts'
import { sendMessage } from './send-message.ts'
import { setContext } from './set-context.ts'
import { subscribe } from './subscribe.ts'
import { updateTasks } from './update-tasks.ts'

/** All control tools, in the order in which they are offered. A new one is a file of this folder and an entry here. */
export const CONTROL_TOOLS: readonly ControlTool[] = [
  completeTask,
  advancePhase,
  setContext,
  askUser,
  readResult,
  readHistory,
  requestPermission,
  updateTasks,
]

/** The tools of the memory, which agents have where their host has one. */
export const MEMORY_TOOLS: readonly ControlTool[] = [remember, recall, forget]

/** The tools of messages between the agents of a run, and to people. */
export const MESSAGE_TOOLS: readonly ControlTool[] = [sendMessage, publish, subscribe, respond]

/** Control tools that an agent has only where its spec says so. */
const ON_REQUEST: readonly ControlTool[] = [delegateToAgent, ...MEMORY_TOOLS, ...MESSAGE_TOOLS]

const BY_NAME: ReadonlyMap<string, ControlTool> = new Map(
  [...CONTROL_TOOLS, ...ON_REQUEST].map((tool) => [tool.spec.name, tool]),
)

/** The names of all control tools. */
export const CONTROL_NAMES: readonly string[] = [...BY_NAME.keys()]

/** Whether an agent has the control tool of this name only where its spec says so. */
export const isOnRequest = (name: string): boolean => ON_REQUEST.some(({ spec }) => spec.name === name)

/** The control tool of this name; undefined: there is none. */
export const controlToolNamed = (name: string): ControlTool | undefined => BY_NAME.get(name)

/** The control tools of an agent with this role. */
export const controlTools = (role: RoleDefinition | null): readonly ToolSpec[] =>
  CONTROL_TOOLS.filter((tool) => isFor(tool, role)).map(({ spec }) => spec)

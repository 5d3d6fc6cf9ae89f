import { z } from 'zod'

// The task graph of an agent: its plan of open work (seed 001).

export const TaskStatus = z.enum(['pending', 'in_progress', 'completed', 'cancelled'])

export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'expected up to 64 letters, digits, ".", "_" and "-"' })

/** `dependencies`: ids of tasks that come first. */
export const Task = z.strictObject({
  id: TaskId,
  title: z.string().min(1).max(300),
  status: TaskStatus,
  dependencies: z.array(TaskId).max(50),
})
export type Task = z.infer<typeof Task>

export const taskEvents = {
  /** `set`: the added or changed tasks in their new form. `removed`: ids. */
  tasks_updated: z.strictObject({ set: z.array(Task), removed: z.array(TaskId) }),
} as const

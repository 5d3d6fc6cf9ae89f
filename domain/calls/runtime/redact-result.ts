import type { SecretBoundary } from '../../ports/runtime.ts'
import type { Sandbox } from '../../ports/workspace.ts'
import type { YieldToEventLoop } from '../../stream/runtime/yield-to-event-loop.ts'
import type { ToolResult } from '../tools/tool-call.ts'
import { redactLarge } from './redact-large.ts'
import { resultFilter } from './redact-parts.ts'
// Replaces secrets by references in the results of tools, before they are recorded.

/** Refreshes the secrets after an effect, so that its outcome is redacted by all secrets known at its end. */
export async function thenRefreshed<T>(secrets: SecretBoundary, effect: () => Promise<T>): Promise<T> {
  try {
    return await effect()
  } finally {
    await secrets.refresh()
  }
}

/** Secrets are hidden before long output is truncated, in stdout and stderr separately. */
export const redactedSandbox = (sandbox: Sandbox, secrets: SecretBoundary): Sandbox => ({
  confined: sandbox.confined,
  exec: (command, signal, onOutput) => sandbox.exec(command, signal, onOutput, () => resultFilter(secrets)),
})

/** A tool's result without secrets, except its `whole`, which goes through {@link resultFilter}. */
export async function redactResult(
  secrets: SecretBoundary,
  result: ToolResult,
  yieldToEventLoop: YieldToEventLoop,
): Promise<ToolResult> {
  const { content, changed, created, detail, documents, ...whole } = result
  return {
    ...whole,
    content: await redactLarge(secrets, content, yieldToEventLoop),
    ...(changed === undefined ? {} : { changed: secrets.json(changed) }),
    ...(created === undefined ? {} : { created: secrets.json(created) }),
    ...(detail === undefined ? {} : { detail: secrets.json(detail) }),
    ...(documents === undefined ? {} : { documents: secrets.json(documents) }),
  }
}

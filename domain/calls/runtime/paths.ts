import type { JsonObject } from '../../log/json.ts'
import type { Environment } from '../../ports/runtime.ts'
import type { Call } from '../call.ts'
import { ToolError } from '../errors.ts'
import type { Failure, ResolvedPaths } from '../events/event-parts.ts'
import { touched } from '../plan-calls.ts'
import type { ToolSpec } from '../tools/tool-spec.ts'

/** Resolves the path arguments of a call. A path outside the workspace yields a failure. */
export async function pathsOf(
  env: Environment,
  spec: ToolSpec | undefined,
  args: JsonObject | null,
): Promise<ResolvedPaths> {
  const resolved: Record<string, string | Failure> = {}
  for (const [name, use] of Object.entries(spec?.paths ?? {})) {
    const path = args?.[name]
    if (typeof path === 'string' && path.isWellFormed() && !path.includes('\0')) resolved[name] = await lead(env, path)
    else if (path === undefined && use !== 'write') resolved[name] = '.'
  }
  return resolved
}

async function lead(env: Environment, path: string): Promise<string | Failure> {
  if (env.workspace === null) return { code: 'SANDBOX_VIOLATION', message: 'this run has no workspace' }
  try {
    // A link may lead to a name that contains a secret unknown to the model.
    return env.secrets.text(await env.workspace.resolve(path))
  } catch (error) {
    const code = (error as { code?: unknown }).code
    // Only paths outside the workspace are refused here; the tool reports other errors.
    if (code !== 'SANDBOX_VIOLATION') return path
    return { code, message: env.secrets.text((error as Error).message) }
  }
}

/**
 * Why a call with effects would no longer work on its planned and approved paths, because a link was created since;
 * null: it would. Checked right before the call.
 */
export async function ledElsewhere(
  env: Environment,
  spec: ToolSpec,
  call: Call,
  args: JsonObject,
): Promise<ToolError | null> {
  if (call.effect === 'pure') return null
  const paths = await pathsOf(env, spec, args)
  const out = Object.values(paths).find((path) => typeof path !== 'string')
  if (out !== undefined) return new ToolError('SANDBOX_VIOLATION', out.message, { beforeEffect: true })
  const now = places(touched(spec, paths))
  const planned = places(call)
  const at = now.findIndex((place, index) => place !== planned[index])
  if (at < 0) return null
  return new ToolError(
    'CONFLICT',
    `nothing was done: this call was to work in ${JSON.stringify(planned[at] ?? '')}, and a link has been put there since: ` +
      `it would work in ${JSON.stringify(now[at])}; name that path itself where it is meant`,
    { beforeEffect: true },
  )
}

const places = ({ reads, writes }: Pick<Call, 'reads' | 'writes'>) => [...reads, ...writes]

import { firstIssue } from '../../../../domain/log/issues.ts'
import type { Json } from '../../../../domain/log/json.ts'
import { RoutingConfig } from '../../../../domain/tree/routing-config.ts'
import { UsageError } from '../../exit.ts'
import { jsonOrText, readText } from '../kit.ts'

// Files that "run" reads for one run.

/** Reads a file as knowledge for the run. */
export const knowledgeFrom = (path: string, cwd: string): { kind: 'file'; name: string; text: string } => ({
  kind: 'file',
  name: path,
  text: readText(`--knowledge ${path}`, path, cwd),
})

/** Reads routing rules from a file: the value of `routing` in the settings, with or without that member name. */
export function routingFrom(path: string, cwd: string): RoutingConfig {
  const given = parsed(path, readText(`--routing ${path}`, path, cwd))
  const named = typeof given === 'object' && given !== null && Object.keys(given).join() === 'routing'
  const found = RoutingConfig.safeParse(named ? (given as { routing: unknown }).routing : given)
  if (found.success) return found.data
  throw new UsageError(`--routing ${path}: ${firstIssue(found.error, 'routing')}`)
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--routing ${path}: not JSON: ${(error as Error).message}`)
  }
}

/** Parses `key=value` options. A value is JSON or text. */
export function pairs(option: string, pairs: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`${option}: expected key=value, with a value that is JSON or text`)
      return [pair.slice(0, at), jsonOrText(pair.slice(at + 1))]
    }),
  )
}

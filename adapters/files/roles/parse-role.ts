import { z } from 'zod'
import { type KnownNames, RoleFile, roleFaults } from '../../../domain/agent/definition/role-file-schema.ts'
import { issuesOf, issuesText } from '../../../domain/log/issues.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { jsonFault } from '../../../domain/log/json-fault.ts'
import { jsonSize } from '../../../domain/log/json-size.ts'

/** A role file that cannot be used. The message names the file and each wrong key. */
export class RoleFileError extends Error {
  override readonly name = 'RoleFileError'
  readonly code = 'ROLE_FILE'
  constructor(file: string, why: string) {
    super(`${file}: ${why}`)
  }
}

/** The longest role file, in characters. */
export const MAX_ROLE_FILE = 256 * 1024
const MAX_DEPTH = 16

/** The role in a file's JSON. Throws RoleFileError with `file` and the wrong keys. */
export function parseRole(text: string, file: string, known: KnownNames): RoleFile {
  const refuse = (why: string): never => {
    throw new RoleFileError(file, why)
  }
  if (text.length > MAX_ROLE_FILE) refuse(`it is longer than ${MAX_ROLE_FILE} characters`)
  if (jsonSize(text).depth > MAX_DEPTH) refuse(`its JSON is nested deeper than ${MAX_DEPTH} levels`)
  const fault = jsonFault(text)
  if (fault !== null) refuse(`no JSON at line ${fault.line}, column ${fault.column}: expected ${fault.expected}`)
  const parsed = RoleFile.safeParse(JSON.parse(text))
  if (!parsed.success) return refuse(issuesText(issuesOf(told(parsed.error)), 'the file'))
  const faults = roleFaults(parsed.data, known)
  if (faults.length > 0) refuse(issuesText(faults))
  return parsed.data
}

/** For a gate that fits neither kind, keeps only the issues of the intended kind: a gate with `argv` is a command. */
function told(error: z.ZodError): z.ZodError {
  const issues = error.issues.flatMap((issue) => {
    if (issue.code !== 'invalid_union') return [issue]
    const [command = [], builtIn = []] = issue.errors
    const isCommand = builtIn.some((one) => one.code === 'unrecognized_keys' && one.keys.includes('argv'))
    return (isCommand ? command : builtIn).map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  })
  return new z.ZodError(issues)
}

/** The JSON Schema (2020-12) of a role file. */
export const roleJsonSchema = (): JsonObject => z.toJSONSchema(RoleFile, { io: 'input' }) as JsonObject

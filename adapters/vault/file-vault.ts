import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unhidable } from '../../domain/agent/secrets/forms.ts'
import { reference, resolveReferences } from '../../domain/agent/secrets/redactor.ts'
import type { Vault } from '../../domain/ports.ts'
import { exclusively } from '../files/exclusive.ts'
import { makeFolder } from '../files/folders.ts'
import { VaultError } from './error.ts'
import { holdToMark, refuseLost, refuseOther } from './mark.ts'
import { appendPrivate, checkPrivate, createPrivate, replacePrivate } from './private-file.ts'

export interface VaultOptions {
  readonly dataFolder: string
  /** Asked before the vault's file, as configuration is: environment over file. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
}

/** The first line, so that a file that was emptied is told from one that holds no reference yet. */
const REFERENCES = '# what references stand for; only ever added to\n'

/** Values of before that are still hidden; the oldest go first. */
const MAX_RETIRED = 100
const MAX_NOTED = 1_000

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The folder of the vault in a data folder: what a sandbox must hide at least. */
export const vaultFolder = (dataFolder: string): string => join(dataFolder, 'vault')

function filesOf(dataFolder: string) {
  const at = (name: string) => join(vaultFolder(dataFolder), name)
  return {
    secrets: at('secrets.json'),
    retired: at('retired.json'),
    noted: at('noted.json'),
    key: at('reference.key'),
    kept: at('references.jsonl'),
  }
}

/** Throws as {@link openVault} would where a vault was kept here and cannot be used. Makes nothing. */
export async function checkVault(dataFolder: string): Promise<void> {
  const { key, kept, secrets } = filesOf(dataFolder)
  refuseLost(dataFolder, [key, kept])
  if (checkPrivate(key)) refuseOther(dataFolder, await loadKey(key))
  checkPrivate(kept)
  await loadSecrets(secrets)
}

/**
 * Secrets in files of mode 0600 in the data folder: named ones, the values of references, and the install's reference
 * key, made at the first start. Rejects with VaultError VAULT_EXPOSED where others can read one of them, VAULT_MISSING
 * where what references stand for was here and is gone.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { kept, ...files } = filesOf(options.dataFolder)
  // Before anything is made: what is restored here must find its place free.
  refuseLost(options.dataFolder, [files.key, kept])
  makeFolder(vaultFolder(options.dataFolder))
  const key = await loadKey(files.key)
  // Made durably at once: what is added to a file counts for nothing while its folder does not name it.
  if (!checkPrivate(kept)) await createPrivate(kept, REFERENCES)
  else if (statSync(kept).size === 0) await appendPrivate(kept, REFERENCES)
  const references = referenceFile(kept)
  await holdToMark(options.dataFolder, key)
  const env = options.env ?? process.env
  let queue: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work)
    queue = result.catch(() => {})
    return result
  }
  // What another process sets in between would be lost: the whole file is read and replaced.
  const changing = <T>(work: () => Promise<T>): Promise<T> =>
    alone(() => exclusively(join(options.dataFolder, 'locks', 'vault.db'), work))
  await loadSecrets(files.secrets)
  /** Before the value goes: what was secret yesterday may still stand in a file, or still open a door. */
  const retire = async (value: string | undefined) => {
    if (value === undefined) return
    const before = Object.values(await loadSecrets(files.retired)).filter((one) => one !== value)
    const kept = [...before, value].slice(-MAX_RETIRED)
    await replacePrivate(files.retired, `${JSON.stringify({ ...kept }, null, 2)}\n`)
  }
  return {
    get: async (name) => {
      const given = Object.hasOwn(env, name) ? env[name] : undefined
      return given?.trim() ? given : ((await loadSecrets(files.secrets))[name] ?? null)
    },
    set: (name, value) =>
      changing(async () => {
        refuseInvalid(name, value)
        const secrets = await loadSecrets(files.secrets)
        if (secrets[name] !== value) await retire(secrets[name])
        secrets[name] = value
        await replacePrivate(files.secrets, `${JSON.stringify(secrets, null, 2)}\n`)
      }),
    remove: (name) =>
      changing(async () => {
        const secrets = await loadSecrets(files.secrets)
        if (!Object.hasOwn(secrets, name)) return false
        await retire(secrets[name])
        delete secrets[name]
        await replacePrivate(files.secrets, `${JSON.stringify(secrets, null, 2)}\n`)
        return true
      }),
    retired: async () => {
      const noted = Object.values(await loadSecrets(files.noted)).map(references.get)
      return [...Object.values(await loadSecrets(files.retired)), ...noted.filter((value) => value !== null)]
    },
    async note(values) {
      // By their references: a value that nothing has shown is not written down.
      const made = new Set(values.map((value) => reference(key, value)))
      const known = new Set(Object.values(await loadSecrets(files.noted)))
      if (made.isSubsetOf(known)) return
      await changing(async () => {
        const all = new Set([...Object.values(await loadSecrets(files.noted)), ...made])
        await replacePrivate(files.noted, `${JSON.stringify({ ...[...all].slice(-MAX_NOTED) }, null, 2)}\n`)
      })
    },
    stamp: async () => [files.secrets, files.retired].map(stampOf).join(' '),
    names: async () => Object.keys(await loadSecrets(files.secrets)).sort(),
    referenceKey: async () => Uint8Array.from(key),
    remember: (made) => alone(() => references.add(made)),
    resolve: references.get,
  }
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : '-'
}

function refuseInvalid(name: string, value: string): void {
  if (!NAME.test(name)) {
    throw new VaultError('SECRET_INVALID', `${JSON.stringify(name)} is no name for a secret; use letters, digits and _`)
  }
  const fault = unhidable(value)
  if (fault !== null)
    throw new VaultError('SECRET_INVALID', `the value of ${name} could not be hidden: ${fault}; use another one`)
}

async function loadSecrets(path: string): Promise<Record<string, string>> {
  // Without a prototype, so that no inherited name is taken for a secret.
  const found = Object.create(null) as Record<string, string>
  if (!checkPrivate(path)) return found
  try {
    const secrets: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (secrets === null || typeof secrets !== 'object' || Array.isArray(secrets)) throw new TypeError('no object')
    if (!Object.values(secrets).every((value) => typeof value === 'string')) throw new TypeError('not all are text')
    return Object.assign(found, secrets)
  } catch (cause) {
    // The cause may quote what it could not read, so it is not passed on.
    throw new VaultError(
      'VAULT_CORRUPT',
      `${path} is no JSON object of texts (${(cause as Error).name}); restore it from a backup`,
    )
  }
}

async function loadKey(path: string): Promise<Uint8Array> {
  if (!checkPrivate(path)) await createPrivate(path, `${randomBytes(32).toString('hex')}\n`)
  checkPrivate(path)
  const text = readFileSync(path, 'latin1').trim()
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
  throw new VaultError('VAULT_CORRUPT', `${path} holds no reference key; restore it from a backup`)
}

/** What references stand for: one JSON line each, only ever added to, so that remembering costs what is new. */
function referenceFile(path: string) {
  const known = new Map<string, string>()
  let read = 0
  let rest = ''
  const readOn = () => {
    if (!checkPrivate(path)) return
    const file = openSync(path, 'r')
    try {
      const fresh = Buffer.alloc(fstatSync(file).size - read)
      readSync(file, fresh, 0, fresh.length, read)
      read += fresh.length
      const lines = (rest + fresh.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    } finally {
      closeSync(file)
    }
  }
  const take = (line: string) => {
    try {
      const [ref, value] = JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as [string, string]
      known.set(ref, value)
    } catch {
      // The first line; or half a line, of a process that died before it was told that the line is kept.
    }
  }
  /** Another process may have remembered it since. */
  const get = (ref: string): string | null => {
    if (!known.has(ref)) readOn()
    return known.get(ref) ?? null
  }
  readOn()
  return {
    get,
    add: async (made: ReadonlyMap<string, string>): Promise<void> => {
      const fresh = [...made].filter(([ref]) => get(ref) === null)
      if (fresh.length === 0) return
      // A value may hold references itself (`Bearer <reference>` under a key): what is kept stands on its own.
      const whole = fresh.map(([ref, value]) => [ref, resolveReferences(value, (inner) => get(inner) ?? inner)])
      await appendPrivate(path, `\n${whole.map((entry) => JSON.stringify(entry)).join('\n')}\n`)
    },
  }
}

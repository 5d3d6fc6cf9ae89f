import { statSync } from 'node:fs'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { inWorkspaces } from '../../../adapters/processes/workspaces.ts'
import { type Finding, unmade } from '../../operations/doctor/finding.ts'
import { type Config, onServers } from '../config/settings.ts'
import { paths } from '../host/paths.ts'
import { vaultKeys } from '../host/vault-keys.ts'
import { checkFolder, checkGuards, checkToken, vaultFault } from './folder.ts'
import { checkClock, checkDisk, checkGit, checkKeys, checkNode, checkSandbox, checkVariables } from './machine.ts'
import { checkServers } from './servers.ts'
import { checkOpened, checkStored } from './stored.ts'

/**
 * Checks the machine, the data folder and the servers of the settings, in the order in which a person would look.
 * `opened`: this process has opened the data folder, so files that every open checks are not read again.
 */
export async function machineFindings(
  config: Config,
  env: NodeJS.ProcessEnv,
  opened: boolean,
): Promise<readonly Finding[]> {
  const { data } = config
  const at = paths(data)
  const folder = await checked('data folder', () => checkFolder(data))
  // Nothing else can be looked at inside a file.
  if (statSync(data, { throwIfNoEntry: false })?.isFile()) return [checkNode(process.version), ...folder]
  const servers = onServers(config) ? await checked('servers', () => checkServers(config)) : []
  // Most runs work in the folder where they are started.
  const writable = inWorkspaces(process.cwd(), data)
  const program = (name: string) => () => findProgram(name, { env, writable })
  const stored = () => [...(opened ? checkOpened : checkStored)(data), ...checkGuards(at.log)]
  return [
    checkNode(process.version),
    checkVariables(env),
    ...folder,
    ...(await checked('token', () => checkToken(data))),
    ...(await checked('vault', () => vaultFault(data, vaultKeys(config)))),
    ...(onServers(config) ? servers : await checked('log', stored)),
    ...(await checked('disk', () => checkDisk([data, at.log, at.tables, at.blobs, at.versions, at.vault]))),
    ...(await checked('clock', () => checkClock(Date.now()))),
    ...(await checked('git', () => checkGit(program('git')))),
    ...(await checked('sandbox', () => checkSandbox(config.sandboxed, program('bwrap')))),
    checkKeys(env),
  ]
}

type Found = Finding | readonly Finding[]

/** The findings of a check. One that throws does not stop the checks after it. */
async function checked(name: string, check: () => Found | Promise<Found>): Promise<readonly Finding[]> {
  try {
    return [await check()].flat()
  } catch (error) {
    return [unmade(name, error)]
  }
}

/** Whether nothing can be opened: the data folder, the vault or a server is broken. */
export const opensNothing = (findings: readonly Finding[]): boolean =>
  findings.some(({ check, state }) => state === 'broken' && !OPENS.includes(check))

/** Checks whose faults prevent no opening. */
const OPENS = ['node', 'token', 'log mark', 'log guards', 'versions', 'git']

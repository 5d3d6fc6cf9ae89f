import { statSync } from 'node:fs'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { inWorkspaces } from '../../../adapters/processes/workspaces.ts'
import type { Finding } from '../../operations/doctor/finding.ts'
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
  const at = paths(config.data)
  const folder = await checkFolder(config.data)
  // Nothing else can be looked at inside a file.
  if (statSync(config.data, { throwIfNoEntry: false })?.isFile()) return [checkNode(process.version), folder]
  const servers = onServers(config) ? await checkServers(config) : []
  // Most runs work in the folder where they are started.
  const writable = inWorkspaces(process.cwd(), config.data)
  const program = (name: string) => () => findProgram(name, { env, writable })
  return [
    checkNode(process.version),
    checkVariables(env),
    folder,
    await checkToken(config.data),
    ...(await vaultFault(config.data, vaultKeys(config))),
    ...(onServers(config) ? servers : [...(opened ? checkOpened : checkStored)(config.data), ...checkGuards(at.log)]),
    await checkDisk([config.data, at.log, at.tables, at.blobs, at.versions, at.vault]),
    await checkClock(Date.now()),
    await checkGit(program('git')),
    ...(await checkSandbox(config.sandboxed, program('bwrap'))),
    checkKeys(env),
  ]
}

/** Whether nothing can be opened: the data folder, the vault or a server is broken. */
export const opensNothing = (findings: readonly Finding[]): boolean =>
  findings.some(({ check, state }) => state === 'broken' && !OPENS.includes(check))

/** Checks whose faults prevent no opening. */
const OPENS = ['node', 'token', 'log mark', 'log guards', 'versions', 'git']

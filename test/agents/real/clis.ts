import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { gemini } from '../../../adapters/agents/cli/gemini.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'
import type { Wire } from './stand-in.ts'
import * as wires from './wires.ts'

/** A command line as its makers publish it, and how it is led to a model's API of ours. */
export interface RealCli {
  readonly agent: CliAgent
  readonly npm: string
  readonly version: string
  readonly wire: Wire
  readonly model: string
  /** Variables for it; `home` is a folder of its own. */
  prepare(home: string, url: string): Record<string, string>
  /** The tool that reads the note, as events name it. */
  readonly tool: string
}

const file = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

export const CLIS: readonly RealCli[] = [
  {
    agent: claudeCode,
    npm: '@anthropic-ai/claude-code',
    version: '2.1.330',
    wire: wires.anthropic,
    model: 'claude-sonnet-4-5',
    tool: 'Read',
    prepare: (_, url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-stand-in', CLAUDE_CODE_MAX_RETRIES: '0' }),
  },
  {
    agent: codex,
    npm: '@openai/codex',
    version: '0.169.0',
    wire: wires.responses,
    model: 'gpt-stand-in',
    tool: 'shell',
    prepare(home, url) {
      const provider = `name = "ours"\nbase_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n`
      const retries = 'request_max_retries = 0\nstream_max_retries = 0\n'
      const config = `model_provider = "ours"\n\n[model_providers.ours]\n${provider}${retries}`
      file(join(home, '.codex', 'config.toml'), config)
      return { OPENAI_API_KEY: 'sk-stand-in' }
    },
  },
  {
    agent: gemini,
    npm: '@google/gemini-cli',
    version: '0.61.0',
    wire: wires.gemini,
    model: 'gemini-2.5-flash',
    tool: 'read_file',
    prepare(home, url) {
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false },
      }
      file(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
      return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'stand-in' }
    },
  },
  {
    agent: opencode,
    npm: 'opencode-ai',
    version: '1.18.33',
    wire: wires.chat,
    model: 'ours/m',
    tool: 'read',
    prepare: (_, url) => ({ OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url)) }),
  },
]

const opencodeConfig = (url: string) => ({
  provider: {
    ours: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'stand-in' },
      models: { m: { cost: { input: 3, output: 15 }, limit: { context: 200_000, output: 8_000 } } },
    },
  },
  small_model: 'ours/m',
  autoupdate: false,
  share: 'disabled',
})

/** Where the programs are kept from one run of the tests to the next, and their home folders while a test runs. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'keepup', 'agent-clis')

const INSTALL_MS = 300_000
const installs = new Map<string, Promise<{ program: string } | { missing: string }>>()

/** The program of a command line, which is installed from npm where it is not there yet; else why it cannot be had. */
export function installed(cli: RealCli): Promise<{ program: string } | { missing: string }> {
  const { kind } = cli.agent
  const install = installs.get(kind) ?? made(cli)
  installs.set(kind, install)
  return install
}

async function made({ agent, npm, version }: RealCli): Promise<{ program: string } | { missing: string }> {
  const folder = join(CACHE, `${agent.kind}-${version}`)
  const program = join(folder, 'node_modules', '.bin', agent.program)
  if (existsSync(program)) return { program }
  try {
    file(join(folder, 'package.json'), '{ "private": true }')
    const args = ['install', '--no-audit', '--no-fund', '--save-exact', `${npm}@${version}`]
    await promisify(execFile)('npm', args, { cwd: folder, timeout: INSTALL_MS })
    return { program }
  } catch (error) {
    const [why] = String((error as { stderr?: string }).stderr ?? error).split('\n')
    return { missing: `${npm}@${version} cannot be installed from npm: ${why}` }
  }
}

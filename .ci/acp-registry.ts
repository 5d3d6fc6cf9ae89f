/** The parts of the package's manifest that the entry shows. */
interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly repository?: string | { readonly url: string }
  readonly homepage?: string
  readonly author?: string | { readonly name: string }
  readonly bin: Readonly<Record<string, string>>
}

/**
 * keepup in the registry of agents of the Agent Client Protocol: `agent.json` of the folder `keepup` there, beside
 * `icon.svg`. Source: FORMAT.md and CONTRIBUTING.md of agentclientprotocol/registry.
 */
export function registryEntry({ name, version, description, license, repository, homepage, author, bin }: Manifest) {
  const [cmd = ''] = Object.keys(bin)
  const source = typeof repository === 'object' ? repository.url : repository
  const person = typeof author === 'object' ? author.name : author
  return {
    ...{ id: cmd, name: cmd, version, description, license },
    ...(source !== undefined && { repository: source.replace(/^git\+|\.git$/g, '') }),
    ...(homepage !== undefined && { website: homepage }),
    ...(person !== undefined && { authors: [person] }),
    distribution: { npx: { package: `${name}@${version}`, cmd, args: ['acp'] } },
  }
}

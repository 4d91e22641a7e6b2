import { must } from './tools.ts'

/** What the nodes know the cloud by, and what the cloud sees of all of them: the outer side of their router. */
export const CLOUD_ADDRESS = '10.77.0.1'
export const ROUTER_ADDRESS = '10.77.0.2'
const SITE = '192.168.77'

/** New connections go out only, and wear the router's address. */
const FIREWALL = `
table ip nat { chain post { type nat hook postrouting priority srcnat; oifname "wan" masquerade; }; };
table ip filter { chain forward { type filter hook forward priority filter; policy drop;
  ct state established,related accept; iifname "lan" accept; }; };
`

/** Namespaces of one run: a cloud, a router, and nodes behind it. Nothing of it is reachable from this machine. */
export class Network {
  readonly cloud: string
  readonly #site: string
  readonly #run: string
  readonly #nodes: string[] = []

  private constructor(run: string) {
    this.#run = run
    this.cloud = `${run}-cloud`
    this.#site = `${run}-site`
  }

  static async create(run: string): Promise<Network> {
    const network = new Network(run)
    const { cloud } = network
    const site = network.#site
    for (const namespace of [cloud, site]) {
      await must('ip', 'netns', 'add', namespace)
      await must('ip', '-n', namespace, 'link', 'set', 'lo', 'up')
    }
    await must(
      'ip',
      '-n',
      cloud,
      'link',
      'add',
      'uplink',
      'type',
      'veth',
      'peer',
      'name',
      'wan',
      'netns',
      site,
    )
    await address(cloud, 'uplink', `${CLOUD_ADDRESS}/24`)
    await address(site, 'wan', `${ROUTER_ADDRESS}/24`)
    await must('ip', '-n', site, 'link', 'add', 'lan', 'type', 'bridge')
    await address(site, 'lan', `${SITE}.1/24`)
    await network.#in(site, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')
    await network.#in(site, 'nft', FIREWALL)
    // The cloud knows the way to the nodes, so it is the router that keeps it out.
    await must('ip', '-n', cloud, 'route', 'add', `${SITE}.0/24`, 'via', ROUTER_ADDRESS)
    return network
  }

  /** A namespace for a node, and the node's address in its site. */
  async addNode(name: string): Promise<{ readonly path: string; readonly address: string }> {
    const namespace = `${this.#run}-${name}`
    const number = this.#nodes.push(namespace)
    const port = `port${number}`
    await must('ip', 'netns', 'add', namespace)
    await must('ip', '-n', namespace, 'link', 'set', 'lo', 'up')
    const pair = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace]
    await must('ip', '-n', this.#site, 'link', 'add', port, ...pair)
    await must('ip', '-n', this.#site, 'link', 'set', port, 'master', 'lan', 'up')
    await address(namespace, 'eth0', `${SITE}.${10 + number}/24`)
    await must('ip', '-n', namespace, 'route', 'add', 'default', 'via', `${SITE}.1`)
    return { path: `/run/netns/${namespace}`, address: `${SITE}.${10 + number}` }
  }

  async remove(): Promise<void> {
    for (const namespace of [...this.#nodes, this.#site, this.cloud]) {
      await must('ip', 'netns', 'del', namespace).catch(() => undefined)
    }
  }

  async #in(namespace: string, ...argv: [string, ...string[]]): Promise<void> {
    await must('ip', 'netns', 'exec', namespace, ...argv)
  }
}

async function address(namespace: string, device: string, value: string): Promise<void> {
  await must('ip', '-n', namespace, 'address', 'add', value, 'dev', device)
  await must('ip', '-n', namespace, 'link', 'set', device, 'up')
}

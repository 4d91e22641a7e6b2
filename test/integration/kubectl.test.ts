import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { describePlanes, type Kubectl, kubectl, type Plane, uniqueName } from '../harness/index.ts'
import { Program } from '../harness/program.ts'

interface Stock {
  /** Runs kubectl and answers what it said; fails the test for a refusal. */
  readonly ok: (args: readonly string[], input?: object | string) => Promise<string>
  /** Runs kubectl, which must refuse, and answers what it said. */
  readonly refused: (args: readonly string[], input?: object | string) => Promise<string>
}

function stock(plane: Plane, program: Kubectl): Stock {
  const call = async (args: readonly string[], input?: object | string) => {
    const text = typeof input === 'object' ? JSON.stringify(input) : input
    return await kubectl(plane, args, { kubectl: program, ...(text === undefined ? {} : { input: text }) })
  }
  return {
    ok: async (args, input) => {
      const { code, output } = await call(args, input)
      expect(code, `kubectl ${args.join(' ')}\n${output}`).toBe(0)
      return output
    },
    refused: async (args, input) => {
      const { code, output } = await call(args, input)
      expect(code, `kubectl ${args.join(' ')}\n${output}`).not.toBe(0)
      return output
    },
  }
}

function node(name: string): object {
  const labels = { 'node-role.kubernetes.io/edge': '', name }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}

function configMap(name: string, data: Record<string, string>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { of: name } }, data }
}

function job(name: string): object {
  return {
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: { name },
    spec: { version: 'v1.21.0', nodeNames: ['no-such-edge'] },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describePlanes('stock kubectl', (plane) => {
  it('is on this machine', (context) => {
    if (plane.kubectls.length === 0) context.skip('there is no kubectl on this machine')
    expect(plane.kubectls[0]?.version).toMatch(/^1\.\d+/)
  })

  describe.for(plane.kubectls)('of version $version', (program) => {
    const { ok, refused } = stock(plane, program)

    it('creates objects and shows them as tables, by label and by field', async () => {
      const name = uniqueName('shown')
      await ok(['create', '-f', '-'], node(name))
      expect(await ok(['get', 'nodes', '-l', `name=${name}`])).toMatch(
        new RegExp(`NAME +STATUS +ROLES +AGE +VERSION\\n${name} +Unknown +edge +`),
      )
      expect(await ok(['get', 'node', name, '-o', 'wide'])).toContain('CONTAINER-RUNTIME')
      expect(await ok(['get', 'nodes', '--field-selector', `metadata.name=${name}`, '-o', 'name'])).toBe(
        `node/${name}\n`,
      )
      const read = JSON.parse(await ok(['get', 'node', name, '-o', 'json'])) as { metadata: { name: string } }
      expect(read.metadata.name).toBe(name)
      expect(await ok(['get', 'node', name, '-o', 'yaml'])).toContain(`  name: ${name}\n`)
      await ok(['delete', 'node', name])
      expect(await refused(['get', 'node', name])).toContain(
        `Error from server (NotFound): nodes "${name}" not found`,
      )
    })

    it('creates with its generators, which speak protobuf', async () => {
      const name = uniqueName('made')
      expect(await ok(['create', 'namespace', name])).toBe(`namespace/${name} created\n`)
      expect(await ok(['create', 'configmap', 'c', '-n', name, '--from-literal=a=b'])).toContain('created')
      expect(await ok(['create', 'secret', 'generic', 's', '-n', name, '--from-literal=a=b'])).toContain(
        'created',
      )
      expect(await ok(['get', 'secret', 's', '-n', name, '-o', 'jsonpath={.data.a}'])).toBe('Yg==')
      expect(await ok(['create', 'service', 'clusterip', 'v', '-n', name, '--tcp=80:8080'])).toContain(
        'created',
      )
      expect(await refused(['create', 'configmap', 'c', '-n', name])).toContain('already exists')
      expect(await ok(['delete', 'namespace', name, '--timeout=30s'])).toContain('deleted')
      expect(await refused(['get', 'namespace', name])).toContain('NotFound')
    })

    it('applies from the client, and sees what is unchanged', async () => {
      const name = uniqueName('applied')
      expect(await ok(['apply', '-f', '-'], configMap(name, { a: '1' }))).toBe(`configmap/${name} created\n`)
      expect(await ok(['apply', '-f', '-'], configMap(name, { a: '2', b: '3' }))).toContain('configured')
      expect(await ok(['apply', '-f', '-'], configMap(name, { a: '2' }))).toContain('configured')
      expect(await ok(['get', 'configmap', name, '-o', 'jsonpath={.data}'])).toBe('{"a":"2"}')
      expect(await ok(['apply', '-f', '-'], configMap(name, { a: '2' }))).toContain('unchanged')
      expect(await ok(['diff', '-f', '-'], configMap(name, { a: '2' }))).toBe('')
      await ok(['delete', 'configmap', '-l', `of=${name}`])
    })

    it('edits with an editor', async () => {
      const name = uniqueName('edited')
      const folder = mkdtempSync(join(plane.folder, 'editor-'))
      const editor = join(folder, 'editor.mjs')
      writeFileSync(
        editor,
        `import { readFileSync, writeFileSync } from 'node:fs'
const file = process.argv[2]
writeFileSync(file, readFileSync(file, 'utf8').replace('a: before', 'a: after'))`,
      )
      vi.stubEnv('KUBE_EDITOR', `${process.execPath} ${editor}`)
      await ok(['create', '-f', '-'], configMap(name, { a: 'before' }))
      expect(await ok(['edit', 'configmap', name])).toContain('edited')
      expect(await ok(['get', 'configmap', name, '-o', 'jsonpath={.data.a}'])).toBe('after')
      await ok(['delete', 'configmap', name])
    })

    it('patches in three ways, labels and annotates', async () => {
      const name = uniqueName('patched')
      await ok(['create', '-f', '-'], node(name))
      const merge = JSON.stringify({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } })
      await ok(['patch', 'node', name, '--type=merge', '-p', merge])
      const operations = JSON.stringify([{ op: 'replace', path: '/spec/taints/0/key', value: 'b' }])
      await ok(['patch', 'node', name, '--type=json', '-p', operations])
      expect(await ok(['get', 'node', name, '-o', 'jsonpath={.spec.taints[0].key}'])).toBe('b')
      for (const type of ['Ready', 'DiskPressure']) {
        const condition = JSON.stringify({ status: { conditions: [{ type, status: 'True' }] } })
        await ok(['patch', 'node', name, '--type=strategic', '--subresource=status', '-p', condition])
      }
      const types = await ok(['get', 'node', name, '-o', 'jsonpath={.status.conditions[*].type}'])
      expect(types.split(' ').toSorted()).toEqual(['DiskPressure', 'Ready'])
      await ok(['label', 'node', name, 'zone=north'])
      await ok(['label', 'node', name, 'zone=south', '--overwrite'])
      await ok(['annotate', 'node', name, 'note=hello'])
      expect(await ok(['get', 'node', name, '-o', 'jsonpath={.metadata.labels.zone}'])).toBe('south')
      await ok(['delete', 'node', name])
    })

    it('cordons and uncordons, and the last who did owns the field', async () => {
      const name = uniqueName('cordoned')
      await ok(['create', '-f', '-'], node(name))
      expect(await ok(['cordon', name])).toBe(`node/${name} cordoned\n`)
      expect(await ok(['get', 'node', name])).toContain('Unknown,SchedulingDisabled')
      const owned = await ok(['get', 'node', name, '-o', 'json', '--show-managed-fields'])
      expect(owned).toContain('"f:unschedulable"')
      expect(await ok(['uncordon', name])).toBe(`node/${name} uncordoned\n`)
      expect(await ok(['get', 'node', name, '-o', 'json', '--show-managed-fields'])).not.toContain(
        'unschedulable',
      )
      expect(await ok(['drain', name, '--dry-run=server'])).toContain(`node/${name} drained (server dry run)`)
      await ok(['delete', 'node', name])
    })

    it('drains a node of a pod that no budget protects, and waits where one does', async () => {
      const name = uniqueName('drained')
      await ok(['create', 'namespace', name])
      await ok(['create', '-f', '-'], node(name))
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: name, labels: { app: name } },
        spec: { nodeName: name, containers: [{ name: 'a', image: 'b:1' }] },
      }
      await ok(['create', '-f', '-'], pod)
      const running = JSON.stringify({
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      })
      await ok(['patch', 'pod', 'p', '-n', name, '--subresource=status', '--type=merge', '-p', running])
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b', namespace: name },
        spec: { minAvailable: 1, selector: { matchLabels: { app: name } } },
      }
      await ok(['create', '-f', '-'], budget)
      const standing = JSON.stringify({
        status: {
          observedGeneration: 1,
          disruptionsAllowed: 0,
          currentHealthy: 1,
          desiredHealthy: 1,
          expectedPods: 1,
        },
      })
      await ok(['patch', 'pdb', 'b', '-n', name, '--subresource=status', '--type=merge', '-p', standing])
      const waits = await refused(['drain', name, '--force', '--timeout=1s'])
      expect(waits).toContain("Cannot evict pod as it would violate the pod's disruption budget.")
      await ok(['delete', 'pdb', 'b', '-n', name])
      const drain = ok(['drain', name, '--force', '--timeout=60s'])
      await ok([
        'wait',
        'pod/p',
        '-n',
        name,
        '--for=jsonpath={.metadata.deletionGracePeriodSeconds}=30',
        '--timeout=20s',
      ])
      await ok(['delete', 'pod', 'p', '-n', name, '--grace-period=0', '--force'])
      expect(await drain).toContain(`node/${name} drained`)
      await ok(['delete', 'namespace', name, '--timeout=30s'])
      await ok(['delete', 'node', name])
    })

    it('describes objects with their events', async () => {
      const name = uniqueName('described')
      await ok(['create', '-f', '-'], node(name))
      const event = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name, namespace: 'default' },
        regarding: { apiVersion: 'v1', kind: 'Node', name, uid: name },
        reason: 'Spoke',
        note: 'the node said something',
        type: 'Normal',
        action: 'Speak',
        reportingController: 'upgradehub.io/test',
        reportingInstance: 'test',
        eventTime: '2026-01-01T00:00:00.000000Z',
      }
      await ok(['create', '-f', '-'], event)
      const described = await ok(['describe', 'node', name])
      expect(described).toMatch(/Roles: +edge/)
      expect(described).toContain('the node said something')
      expect(await ok(['get', 'events', '--field-selector', `involvedObject.name=${name}`])).toContain(
        'Spoke',
      )
      expect(await ok(['events', '--for', `node/${name}`])).toContain('the node said something')
      await ok(['delete', 'event', name])
      await ok(['delete', 'node', name])
    })

    it('waits for a condition, a value and an end', async () => {
      const name = uniqueName('awaited')
      await ok(['create', '-f', '-'], node(name))
      const waiting = ok(['wait', `node/${name}`, '--for=condition=Ready', '--timeout=30s'])
      const ready = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
      await ok(['patch', 'node', name, '--type=merge', '--subresource=status', '-p', ready])
      expect(await waiting).toContain('condition met')
      await ok(['wait', `node/${name}`, '--for=jsonpath={.metadata.name}=' + name, '--timeout=10s'])
      const ending = ok(['wait', `node/${name}`, '--for=delete', '--timeout=30s'])
      await ok(['delete', 'node', name])
      await ending
    })

    it('watches as things happen', async () => {
      const name = uniqueName('watched')
      await ok(['create', '-f', '-'], configMap(name, { a: '1' }))
      const watching = new Program('kubectl get -w', [
        program.path,
        ...['--kubeconfig', plane.kubeconfigPath, 'get', 'configmaps', '-w', '--output-watch-events'],
        ...['-l', `of=${name}`],
      ])
      expect(await watching.says(new RegExp(`ADDED +${name} +1 `))).toBeTruthy()
      await ok(['patch', 'configmap', name, '--type=merge', '-p', '{"data":{"b":"2"}}'])
      await watching.says(new RegExp(`MODIFIED +${name} +2 `))
      await ok(['delete', 'configmap', name])
      await watching.says(new RegExp(`DELETED +${name} +2 `))
      await watching.stop()
    })

    it('explains built-in kinds and ours', async () => {
      expect(await ok(['explain', 'node.spec.unschedulable'])).toMatch(/FIELD: +unschedulable <boolean>/)
      expect(await ok(['explain', 'nodeupgradejobs.spec.nodeNames'])).toMatch(
        /FIELD: +nodeNames <\[\]string>/,
      )
      expect(await ok(['explain', 'nut.status', '--recursive'])).toContain('attempt')
      expect(await ok(['api-resources', '-o', 'wide'])).toMatch(
        /nodeupgradejobs +nuj +operations.kubeedge.io\/v1alpha2/,
      )
    })

    it('asks what it may do and who it is', async () => {
      expect(await ok(['auth', 'can-i', 'create', 'nodeupgradejobs'])).toContain('yes')
      expect(await ok(['auth', 'can-i', '--list'])).toContain('*.*')
      expect(await ok(['auth', 'whoami'])).toContain(plane.users.admin.user)
    })

    it('tries things out without leaving a trace, and is held to the schema', async () => {
      const name = uniqueName('tried')
      expect(await ok(['create', '-f', '-', '--dry-run=server'], job(name))).toContain('(server dry run)')
      expect(await refused(['get', 'nuj', name])).toContain('NotFound')
      const odd = { ...job(name), spec: { version: 'v1.21.0', nodeNames: ['a'], nodeNmaes: ['b'] } }
      expect(await refused(['create', '-f', '-'], odd)).toContain('unknown field "spec.nodeNmaes"')
      expect(await ok(['create', '-f', '-', '--validate=warn', '--dry-run=server'], odd)).toContain(
        'Warning: unknown field "spec.nodeNmaes"',
      )
      const twice = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"a":"1"},"nope":1}`
      expect(await refused(['create', '-f', '-'], twice)).toContain('unknown field "nope"')
      expect(await refused(['create', '-f', '-'], { ...job(name), spec: { version: 'v1.21.0' } })).toContain(
        'is invalid',
      )
    })

    it('deletes owners with what they own, or without', async () => {
      const name = uniqueName('owner')
      for (const cascade of ['background', 'foreground', 'orphan']) {
        await ok(['create', '-f', '-'], configMap(name, {}))
        const uid = await ok(['get', 'configmap', name, '-o', 'jsonpath={.metadata.uid}'])
        const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }]
        const metadata = { name: `${name}-owned`, ownerReferences }
        await ok(['create', '-f', '-'], { apiVersion: 'v1', kind: 'ConfigMap', metadata })
        await ok(['delete', 'configmap', name, `--cascade=${cascade}`, '--timeout=30s'])
        const owned = ['configmap', `${name}-owned`]
        if (cascade === 'orphan') await ok(['delete', ...owned])
        else await ok(['wait', '--for=delete', owned.join('/'), '--timeout=30s'])
        expect(await refused(['get', ...owned])).toContain('NotFound')
      }
    })

    it('applies on the server where that is served, and is told where it is not', async () => {
      const args = ['apply', '--server-side', '-f', '-']
      const input = configMap(uniqueName('ssa'), {})
      const said = plane.name === 'real' ? await ok(args, input) : await refused(args, input)
      expect(said).toContain(plane.name === 'real' ? 'serverside-applied' : 'not available on the server')
    })
  })
})

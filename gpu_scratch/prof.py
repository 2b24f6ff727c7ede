import sys; sys.path[:0]=['.','src']
import treadle as td, numpy as np, time
from collections import defaultdict
from benchmarks.gpu_rows import ROWS
import benchmarks.gpu_treadle as gt
from treadle.backends.cuda import execute
made=[]
init=execute.Program.__init__
def spy(self,*a,**k):
    init(self,*a,**k); made.append(self)
execute.Program.__init__=spy
def prof(name,top=28):
    made.clear()
    row=ROWS[name]
    run,_=gt.MAKERS[row.kind](row,False)
    for _ in range(3): gt.wait(run())
    t=time.perf_counter()
    for _ in range(5): r=run()
    gt.wait(r); total=(time.perf_counter()-t)/5*1e3
    p=max(made,key=lambda p:len(p.calls))
    spent=[]
    def clock(bases):
        ev=[]
        for c in p.calls:
            c.aim(bases)
        for c in p.calls:
            ev.append(p.gpu.mark()); c.start()
        ev.append(p.gpu.mark()); p.gpu.wait()
        spent.append([p.gpu.between(a,b) for a,b in zip(ev,ev[1:])])
    p.clock=clock
    for _ in range(3): gt.wait(run())
    p.clock=None
    ms=np.min(spent,axis=0)
    print(f"== {name}: {total:.3f} ms wall, kernels {ms.sum():.3f} ms, launches {len(p.calls)}, arena {p.plan.layout.nbytes/2**30:.2f} GiB, mem {td.cuda.memory_stats()['mapped']/2**30:.2f}")
    groups=defaultdict(lambda:[0,0.0,None])
    for l,t in zip(p.plan.launches,ms):
        tx=l.source.text
        kind="chain" if "# a chain" in tx else "gemm*" if "tl.num_programs" in tx else "gemm" if "tl.dot" in tx else "own" if "SCAN" in tx else "loop"
        st=p.plan.steps[l.step]
        w=tuple(f"{n.op}:{n.type}" for n in getattr(st,'writes',[]))[:3]
        g=groups[(kind,l.grid,l.size,w,l.source.constants)]
        g[0]+=1; g[1]+=t
    for k,(n,t,_) in sorted(groups.items(),key=lambda kv:-kv[1][1])[:top]:
        print(f"{t:8.3f} ms x{n:3d} {k[0]} grid {k[1]} {k[2]:.1e} {k[3]} {dict(k[4])}")
for n in sys.argv[1:]: prof(n)

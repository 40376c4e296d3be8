import numpy as np
import pytest

import tribo


def test_pictures_show_the_world(quadruped, tmp_path):
    m, d = quadruped
    tribo.forward(m, d)
    with tribo.Renderer(m, 60, 80) as r:
        with pytest.raises(RuntimeError):
            r.render()
        r.update_scene(d)
        picture = r.render()
        assert picture.shape == (60, 80, 3) and picture.dtype == np.uint8 and picture.std() > 5
        r.update_scene(d, tribo.Camera(distance=50))
        far = r.render(out=np.empty_like(picture))
        assert not np.array_equal(far, picture)
        r.update_scene([d, tribo.Data(m)])
        r.force_scale = tribo.force_scale(m, d)
        two = r.render(labels=["a", "b"])
        path = tmp_path / "film.png"
        tribo.write_png(path, [picture, two])
        assert path.read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(RuntimeError, match="closed"):
        r.render()
    with pytest.raises(tribo.Error):
        tribo.Renderer(m, 0, 10)
    with pytest.raises(ValueError):
        tribo.write_png(path, [picture, picture[:-1]])


def test_arrows_of_forces_have_a_length_of_their_own(quadruped):
    m, d = quadruped
    tribo.step(m, d, 100)
    with tribo.Renderer(m, 60, 80) as r:
        r.update_scene(d)
        plain = r.render()
        arrows = r.render(forces=True)
        assert r.force_scale == 0 and not np.array_equal(plain, arrows)
        assert np.array_equal(r.render(), plain)
        r.force_scale = tribo.force_scale(m, d)
        assert np.array_equal(r.render(), arrows) and np.array_equal(r.render(forces=False), plain)
        r.force_scale *= 2
        assert not np.array_equal(r.render(forces=True), arrows)
